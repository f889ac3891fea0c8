import { type InForce, OFFER_LONGEST_MS, offersEndMs } from "../policy-api/decision/activation.ts";
import { POLICY_CACHE_MS, POLICY_OUTDATED_MS } from "../policy-api/decision/policy.ts";
import { Hasher } from "./hasher.ts";
import type { Nearby } from "./nearby.ts";
import type { Stores } from "./stores.ts";
import { KillHold, type UnstoredKill } from "./unstored-kill.ts";

/** After a failed renewal the store is not asked for this long, milliseconds. */
const RETRY_MS = 1_000;
/** A renewal without an answer counts as lost after this long, and another may begin, milliseconds. */
const RENEWAL_LOST_MS = 5_000;

/** What the store sent, ready for use. */
export interface CachedPolicy {
  /** Undefined if the stored activation cannot be read: then responses say nothing about HTTP/3. */
  readonly inForce?: InForce | undefined;
  /** Undefined until the store has answered once. */
  readonly hasher?: Hasher;
}

/**
 * What is in force, as this isolate knows it. For 15 s it is fresh. Then requests still use it while one of them renews
 * it. After 30 s they wait for the renewal. If the renewal does not come in time, the old one still takes offers back, and makes none.
 */
export class PolicyCache {
  #cached: CachedPolicy | undefined;
  readonly #kill: KillHold;
  readonly #nearby: Nearby | undefined;
  /** When the store was asked for what is cached. */
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #renewAtMs = 0;
  /** After a failure: until when an outdated policy is used without asking. */
  #leftAloneUntilMs = 0;
  /** Since when the store has not answered. */
  #unansweredSinceMs: number | undefined;
  /** Questions are numbered: a late answer does not replace the answer to a newer question, whatever the clock did. */
  #asked = 0;
  #answered = 0;

  /** @param nearby What isolates of the same data centre may have asked already. */
  constructor(kill = new KillHold(), nearby?: Nearby) {
    this.#kill = kill;
    this.#nearby = nearby;
  }

  /** What is cached, however old. Undefined until the store has answered once, unless a kill switch is in force. */
  get current(): CachedPolicy | undefined {
    const kill = this.#kill.unstored;
    return kill === undefined ? this.#cached : withKill(this.#cached, kill);
  }

  /** The revision that the store sent last. Undefined until it has answered once, and if its activation cannot be read. */
  get storedRevision(): number | undefined {
    return this.#cached?.inForce?.revision;
  }

  /** Whether it is time to renew. Unless something is outdated, at most one renewal is under way. */
  due(nowMs: number): boolean {
    return nowMs >= this.#renewAtMs || nowMs < this.#askedAtMs;
  }

  /**
   * Whether what is cached is too old to be used without waiting for a renewal: this isolate had no visitors for a while, or the store
   * does not answer, and the policy may have changed long ago. No page is offered HTTP/3 by it: offersEndMs relies on this limit.
   */
  outdated(nowMs: number): boolean {
    return nowMs - this.#askedAtMs >= POLICY_OUTDATED_MS || nowMs < this.#askedAtMs;
  }

  /**
   * Renews if it is time: behind the request while what is cached may still be used, else before the request goes on.
   * Each request that finds an outdated policy asks for itself, because a request cannot wait for another's promise.
   * While the store fails or hangs, nobody waits but who asks it again after RENEWAL_LOST_MS: the request that asked before may have
   * died, and its answer with it.
   *
   * @param site Whose isolates tell each other what is still in force. Undefined: the store alone is asked.
   */
  async ready(
    stores: Pick<Stores, "policyBundle">,
    ctx: Pick<ExecutionContext, "waitUntil">,
    nowMs: number,
    site?: string,
  ): Promise<void> {
    const isHanging =
      this.#unansweredSinceMs !== undefined && nowMs - this.#unansweredSinceMs >= RETRY_MS && nowMs < this.#renewAtMs;
    const outdated = this.outdated(nowMs) && nowMs >= this.#leftAloneUntilMs && !isHanging;
    if (!outdated && !this.due(nowMs)) return;
    const renewal =
      this.#nearby === undefined || site === undefined
        ? this.renew(stores, nowMs)
        : this.#renewAmong(this.#nearby, site, stores, nowMs);
    // The request may end before the answer comes, and the answer still counts.
    ctx.waitUntil(renewal);
    if (outdated) await renewal;
  }

  /**
   * Asks the store, unless an isolate near this one has asked since, and what is held here was in force then. So a policy is as old as the
   * question that it came by, whoever asked. Never rejects.
   */
  async #renewAmong(nearby: Nearby, site: string, stores: Pick<Stores, "policyBundle">, nowMs: number): Promise<void> {
    const held = this.#cached;
    if (held?.inForce !== undefined) {
      this.#renewAtMs = nowMs + RENEWAL_LOST_MS;
      const heard = await nearby.findRevision(site);
      if (heard?.revision === held.inForce.revision && this.#cached === held && this.#isNews(heard.askedAtMs, nowMs))
        return this.#keep(held, heard.askedAtMs);
    }
    await this.renew(stores, nowMs);
    const revision = this.storedRevision;
    if (revision !== undefined && this.#askedAtMs === nowMs)
      await nearby.keepRevision(site, { revision, askedAtMs: nowMs });
  }

  #isNews(askedAtMs: number, nowMs: number): boolean {
    return askedAtMs > this.#askedAtMs && askedAtMs <= nowMs && nowMs - askedAtMs < POLICY_CACHE_MS;
  }

  /** Asks the store. Never rejects: after a failure, what was cached is still cached. */
  async renew(stores: Pick<Stores, "policyBundle">, nowMs: number): Promise<void> {
    this.#renewAtMs = nowMs + RENEWAL_LOST_MS;
    const question = ++this.#asked;
    this.#unansweredSinceMs ??= nowMs;
    try {
      const cached = this.#cached;
      const bundle = await stores.policyBundle(cached?.inForce?.revision);
      const renewed = bundle === "unchanged" ? cached : { inForce: bundle.inForce, hasher: new Hasher(bundle.hashKey) };
      this.#unansweredSinceMs = undefined;
      const isOutrun = bundle === "unchanged" && this.#cached !== cached;
      if (renewed === undefined || isOutrun || question < this.#answered) return;
      this.#answered = question;
      this.#keep(renewed, nowMs);
    } catch {
      this.#unansweredSinceMs = undefined;
      if (question < this.#answered) return;
      this.#renewAtMs = nowMs + RETRY_MS;
      this.#leftAloneUntilMs = nowMs + RETRY_MS;
    }
  }

  #keep(cached: CachedPolicy, askedAtMs: number): void {
    this.#cached = withOffersOf(this.#cached?.inForce, cached, askedAtMs);
    this.#askedAtMs = askedAtMs;
    this.#renewAtMs = askedAtMs + POLICY_CACHE_MS;
    this.#leftAloneUntilMs = 0;
  }
}

/**
 * What is cached from now on. An isolate that was cut off from the store may have made offers under the old revision later than the
 * store expects. So the isolate keeps its own, later end of those offers, also when the store sends the same revision again.
 */
function withOffersOf(before: InForce | undefined, cached: CachedPolicy, nowMs: number): CachedPolicy {
  const { inForce } = cached;
  if (before === undefined || inForce === undefined || before === inForce) return cached;
  const own = before.revision === inForce.revision ? before.earlierOffersUntilMs : offersEndMs(before, nowMs);
  const earlierOffersUntilMs = Math.max(inForce.earlierOffersUntilMs, own);
  return { ...cached, inForce: { ...inForce, earlierOffersUntilMs } };
}

/** What is cached under a kill switch that the store could not take. */
function withKill(cached: CachedPolicy | undefined, { kind, atMs }: UnstoredKill): CachedPolicy {
  const unknown: InForce = {
    revision: 0,
    sinceMs: atMs,
    everyone: { version: 0 },
    stages: [],
    killSwitch: null,
    earlierOffersUntilMs: atMs + POLICY_OUTDATED_MS + OFFER_LONGEST_MS,
  };
  const inForce = cached?.inForce ?? unknown;
  return { ...cached, inForce: { ...inForce, killSwitch: kind, earlierOffersUntilMs: offersEndMs(inForce, atMs) } };
}
