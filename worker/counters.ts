import { type Counted, countsBy, type Delta } from "../policy-api/api/counters/counted.ts";
import { type Family, type Key, keyOf, type Labels } from "../policy-api/api/counters/families.ts";
import { Pace } from "./pace.ts";
import type { Region } from "./region.ts";

/** What became of a page's report. */
export type ReportFate = Labels<"reports">["fate"];

/** Takes a delta to a region's object. Rejects where the store does not answer. */
export type SendDelta = (region: Region, delta: Delta) => Promise<void>;

/**
 * What this isolate counted. As many numbers as there are kinds of things (families.ts), however much is counted. The store gets what came
 * since the last delta. A delta without an answer is sent again as it is, so it counts once; what comes meanwhile waits for the next one.
 */
export class Counters {
  readonly pace: Pace;
  /** Since the isolate began. */
  readonly #counts = new Map<Key, number>();
  /** Those of them that some delta has. */
  #sent: ReadonlyMap<Key, number> = new Map();
  readonly #isolate = crypto.randomUUID();
  #number = 0;
  #unanswered: { readonly region: Region; readonly delta: Delta } | undefined;

  /**
   * @param everyMs The store gets a delta at most once in this time, milliseconds
   * @param isBilled Whether each has a price: then also the first waits that long
   */
  constructor(everyMs: number, isBilled = false) {
    this.pace = new Pace(everyMs, isBilled);
  }

  add<F extends Family>(family: F, labels: Labels<F>, more = 1): void {
    if (more <= 0) return;
    const key = keyOf(family, labels);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + more);
  }

  /** What was counted of a family since the isolate began, by the value of one label. */
  readBy(family: Family, label: string): Readonly<Record<string, number>> {
    return Object.fromEntries(countsBy(Object.fromEntries(this.#counts), family, label));
  }

  /**
   * Sends what was counted. Never rejects: what the store did not take is sent again, to the same region, whose object knows its number.
   *
   * @param region Where it goes, unless it was sent before
   */
  async flush(send: SendDelta, region: Region, nowMs: number): Promise<void> {
    this.pace.keep(nowMs);
    this.pace.leave(nowMs);
    const sending = (this.#unanswered ??= this.#next(region));
    if (sending === undefined) return;
    try {
      await send(sending.region, sending.delta);
      // Two may have sent the same: the store counts it once.
      if (this.#unanswered === sending) this.#unanswered = undefined;
    } catch {
      // Sent again with the next page.
    }
  }

  /** Sends all that was counted until now, for a caller that reads the store next: first what has no answer yet, then what came since. */
  async flushAll(send: SendDelta, region: Region, nowMs: number): Promise<void> {
    if (this.#unanswered !== undefined) await this.flush(send, region, nowMs);
    if (this.#unanswered === undefined) await this.flush(send, region, nowMs);
  }

  #next(region: Region): { region: Region; delta: Delta } | undefined {
    const since = [...this.#counts].map(([key, count]) => [key, count - (this.#sent.get(key) ?? 0)] as const);
    const counted: Counted = Object.fromEntries(since.filter(([, more]) => more > 0));
    if (Object.keys(counted).length === 0) return undefined;
    this.#sent = new Map(this.#counts);
    return { region, delta: { isolate: this.#isolate, number: ++this.#number, counted } };
  }
}
