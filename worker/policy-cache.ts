import { POLICY_CACHE_MS, type PolicyInForce } from "../policy-api/core/policy.ts";
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
 * The policy as this isolate knows it: fresh for 30 s, then served stale while one request renews it. With the store
 * gone the last known policy goes on.
 */
export class PolicyCache {
  #held: HeldPolicy | undefined;
  #renewAtMs = 0;

  /** The policy held, however old; undefined in an isolate that has not seen one. */
  get held(): HeldPolicy | undefined {
    return this.#held;
  }

  /** Whether it is time to renew. At most one renewal is under way. */
  due(nowMs: number): boolean {
    return nowMs >= this.#renewAtMs;
  }

  /** Asks the store. Never rejects; what it cannot bring leaves the held policy as it is. */
  async renew(stores: Pick<Stores, "policy">, nowMs: number): Promise<void> {
    this.#renewAtMs = nowMs + RENEWAL_LOST_MS;
    try {
      const bundle = await stores.policy();
      const keys = await Keys.from(bundle.hashKey);
      this.#held = bundle.inForce === undefined ? { keys } : { inForce: bundle.inForce, keys };
      this.#renewAtMs = nowMs + POLICY_CACHE_MS;
    } catch {
      this.#renewAtMs = nowMs + RETRY_MS;
    }
  }
}
