import { POLICY_CACHE_MS, POLICY_OUTDATED_MS, type PolicyInForce } from "../policy-api/core/policy.ts";
import { Keys } from "./keys.ts";
import type { Stores } from "./stores.ts";

/** After a failed renewal the store is left alone for this long, milliseconds. */
const RETRY_MS = 1_000;
/** A renewal that has not answered by then is taken for lost, and another may begin, milliseconds. */
const RENEWAL_LOST_MS = 5_000;

export interface HeldPolicy {
  /** Undefined when the store has one that cannot be read: then nothing is said. */
  readonly inForce?: PolicyInForce;
  readonly keys: Keys;
}

/**
 * The policy as this isolate knows it: fresh for 30 s, then served stale while one request renews it. With the store gone
 * the last known policy goes on.
 */
export class PolicyCache {
  #held: HeldPolicy | undefined;
  /** When what is held was asked for: an answer to an older question does not replace it. */
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #renewAtMs = 0;

  /** The policy held, however old; undefined in an isolate that has not seen one. */
  get held(): HeldPolicy | undefined {
    return this.#held;
  }

  /** Whether it is time to renew. At most one renewal is under way. */
  due(nowMs: number): boolean {
    return nowMs >= this.#renewAtMs;
  }

  /**
   * Whether what is held is too old to be served without waiting for the renewal: this isolate had no visitors for a
   * while, and the policy may have changed long ago. (PolicyStore counts on it for how long offers may live.)
   */
  outdated(nowMs: number): boolean {
    return nowMs - this.#askedAtMs >= POLICY_OUTDATED_MS;
  }

  /** Asks the store. Never rejects; what it cannot bring leaves the held policy as it is. */
  async renew(stores: Pick<Stores, "policy">, nowMs: number): Promise<void> {
    this.#renewAtMs = nowMs + RENEWAL_LOST_MS;
    try {
      const bundle = await stores.policy();
      const keys = await Keys.from(bundle.hashKey);
      if (nowMs < this.#askedAtMs) return;
      this.#hold(bundle.inForce === undefined ? { keys } : { inForce: bundle.inForce, keys }, nowMs);
    } catch {
      this.#renewAtMs = nowMs + RETRY_MS;
    }
  }

  /** Takes a policy that was just put in force. False where there is no key yet to serve with: then ask the store. */
  install(inForce: PolicyInForce, nowMs: number): boolean {
    if (this.#held === undefined) return false;
    this.#hold({ inForce, keys: this.#held.keys }, nowMs);
    return true;
  }

  #hold(held: HeldPolicy, askedAtMs: number): void {
    this.#held = held;
    this.#askedAtMs = askedAtMs;
    this.#renewAtMs = askedAtMs + POLICY_CACHE_MS;
  }
}
