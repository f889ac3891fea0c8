import { type InForce, offersEndMs } from "../policy-api/core/activation.ts";
import type { PolicyBundle } from "../durable/policy-store.ts";
import { POLICY_CACHE_MS, POLICY_OUTDATED_MS } from "../policy-api/core/policy.ts";
import { Keys } from "./keys.ts";
import type { Stores } from "./stores.ts";

/** After a failed renewal the store is left alone for this long, milliseconds. */
const RETRY_MS = 1_000;
/** A renewal that has not answered by then is taken for lost, and another may begin, milliseconds. */
const RENEWAL_LOST_MS = 5_000;

export interface HeldBundle {
  /** Undefined when the store has one that cannot be read: then nothing is said. */
  readonly inForce?: InForce;
  readonly keys: Keys;
}

/**
 * What is in force, as this isolate knows it: fresh for 15 s, then served stale while one request renews it, and from 30 s on
 * only where the renewal does not come in time. With the store gone the last known policy goes on.
 */
export class PolicyCache {
  #held: HeldBundle | undefined;
  /** When what is held was asked for. */
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #renewAtMs = 0;
  /** After a failure: until when an outdated policy is obeyed without asking. */
  #leftAloneUntilMs = 0;
  /** Since when questions are without an answer. */
  #unansweredSinceMs: number | undefined;
  /** Questions are numbered: an answer to an older one does not replace that to a newer, whatever the clock did. */
  #asked = 0;
  #answered = 0;

  /** The policy held, however old; undefined in an isolate that has not seen one. */
  get held(): HeldBundle | undefined {
    return this.#held;
  }

  /** Whether it is time to renew. While nothing is outdated at most one renewal is under way. */
  due(nowMs: number): boolean {
    return nowMs >= this.#renewAtMs || nowMs < this.#askedAtMs;
  }

  /**
   * Whether what is held is too old to be served without waiting for the renewal: this isolate had no visitors for a
   * while, and the policy may have changed long ago. (offersEndMs counts on it for how long offers may live.)
   */
  outdated(nowMs: number): boolean {
    return nowMs - this.#askedAtMs >= POLICY_OUTDATED_MS || nowMs < this.#askedAtMs;
  }

  /**
   * Renews what is due: behind the request where what is held may still be served, else before it goes on. Each request
   * that finds an outdated policy asks for itself, as it cannot wait for what another one asked; not while the store fails or
   * hangs, when the last known policy goes on.
   */
  async ready(
    stores: Pick<Stores, "policyBundle">,
    ctx: Pick<ExecutionContext, "waitUntil">,
    nowMs: number,
  ): Promise<void> {
    const isHanging = this.#unansweredSinceMs !== undefined && nowMs - this.#unansweredSinceMs >= RETRY_MS;
    const outdated = this.outdated(nowMs) && nowMs >= this.#leftAloneUntilMs && !isHanging;
    if (!outdated && !this.due(nowMs)) return;
    const renewal = this.renew(stores, nowMs);
    // Whoever waits for it may give up; it still comes.
    ctx.waitUntil(renewal);
    if (outdated) await renewal;
  }

  /** Asks the store. Never rejects; what it cannot bring leaves the held policy as it is. */
  async renew(stores: Pick<Stores, "policyBundle">, nowMs: number): Promise<void> {
    this.#renewAtMs = nowMs + RENEWAL_LOST_MS;
    const question = ++this.#asked;
    this.#unansweredSinceMs ??= nowMs;
    try {
      const held = this.#held;
      const bundle = await stores.policyBundle(held?.inForce?.revision);
      const renewed = bundle === "unchanged" ? held : await holdable(bundle);
      this.#unansweredSinceMs = undefined;
      const isOutrun = bundle === "unchanged" && this.#held !== held;
      if (renewed === undefined || isOutrun || question < this.#answered) return;
      this.#answered = question;
      this.#hold(renewed, nowMs);
    } catch {
      this.#unansweredSinceMs = undefined;
      if (question < this.#answered) return;
      this.#renewAtMs = nowMs + RETRY_MS;
      this.#leftAloneUntilMs = nowMs + RETRY_MS;
    }
  }

  #hold(held: HeldBundle, askedAtMs: number): void {
    this.#held = withOffersOf(this.#held?.inForce, held, askedAtMs);
    this.#askedAtMs = askedAtMs;
    this.#renewAtMs = askedAtMs + POLICY_CACHE_MS;
    this.#leftAloneUntilMs = 0;
  }
}

/**
 * What takes the place of what was held. An isolate that was cut off from the store went on offering under the old revision
 * when the store had long counted its offers as ended: it knows better.
 */
function withOffersOf(before: InForce | undefined, held: HeldBundle, nowMs: number): HeldBundle {
  const { inForce, keys } = held;
  if (before === undefined || inForce === undefined || before.revision === inForce.revision) return held;
  const earlierOffersUntilMs = Math.max(inForce.earlierOffersUntilMs, offersEndMs(before, nowMs));
  return { inForce: { ...inForce, earlierOffersUntilMs }, keys };
}

async function holdable({ inForce, hashKey }: PolicyBundle): Promise<HeldBundle> {
  const keys = await Keys.from(hashKey);
  return inForce === undefined ? { keys } : { inForce, keys };
}
