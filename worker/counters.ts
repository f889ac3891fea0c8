import type { Counted, Delta } from "../policy-api/api/counters/counted.ts";
import { type Family, type Key, keyOf, type Labels } from "../policy-api/api/counters/families.ts";
import type { Counts } from "./counts.ts";
import type { Region } from "./region.ts";

/** A telling that is this late has died with its request, and another may begin, milliseconds. */
const LOST_MS = 10_000;

/** Takes a delta to a region's object. Rejects where the store does not answer. */
export type Tell = (region: Region, delta: Delta) => Promise<void>;

/** What became of a page's report. */
export type ReportFate = Labels<"reports">["fate"];

/** Counts that are kept elsewhere. */
interface Source {
  readonly counts: Pick<Counts<string>, "read">;
  /** The key of a cause. */
  readonly key: (cause: string) => Key;
}

/**
 * What this isolate counted and the store does not know yet. As many numbers as there are kinds of things (families.ts), however much is
 * counted. A delta without an answer is told again as it is, so it counts once; what comes meanwhile waits for the next one.
 */
export class Counters {
  readonly #tellMs: number;
  readonly #sources: readonly Source[];
  readonly #counts = new Map<Key, number>();
  /** What of each source was told before. */
  readonly #taken = new Map<Key, number>();
  readonly #isolate = crypto.randomUUID();
  #number = 0;
  /** Told, without an answer. */
  #untold: { readonly region: Region; readonly delta: Delta } | undefined;
  #toldAtMs = 0;
  #promisedUntilMs = 0;

  /**
   * @param tellMs It tells at most once in this time, milliseconds
   * @param sources Counts that are kept elsewhere, and the key of each of their causes
   */
  constructor(tellMs: number, sources: readonly Source[] = []) {
    this.#tellMs = tellMs;
    this.#sources = sources;
  }

  add<F extends Family>(family: F, labels: Labels<F>, more = 1): void {
    if (more <= 0) return;
    const key = keyOf(family, labels);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + more);
  }

  /** @returns how long the caller has to wait before it calls `tell`; undefined if nothing is to be told, or another caller will do that. */
  due(nowMs: number): number | undefined {
    // A time that is farther ahead is from before the clock was set back.
    const isAhead = (ms: number, most: number): boolean => nowMs < ms && ms <= nowMs + most;
    if (isAhead(this.#promisedUntilMs, this.#tellMs + LOST_MS)) return undefined;
    const dueMs = this.#toldAtMs + this.#tellMs;
    const waitMs = isAhead(dueMs, this.#tellMs) ? dueMs - nowMs : 0;
    this.#promisedUntilMs = nowMs + waitMs + LOST_MS;
    return waitMs;
  }

  /**
   * Tells what was counted. Never rejects: what the store did not take is told again, to the same region, whose object knows its number.
   *
   * @param region Where it goes, unless it was told before
   */
  async tell(tell: Tell, region: Region, nowMs: number): Promise<void> {
    this.#promisedUntilMs = 0;
    this.#toldAtMs = nowMs;
    if (this.#untold === undefined) {
      const delta = this.#next();
      if (delta !== undefined) this.#untold = { region, delta };
    }
    const telling = this.#untold;
    if (telling === undefined) return;
    try {
      await tell(telling.region, telling.delta);
      // Two may have told the same: the store counts it once.
      if (this.#untold === telling) this.#untold = undefined;
    } catch {
      // Told again with the next page.
    }
  }

  /** Tells all that was counted until now, for a caller that reads the store next: first what has no answer yet, then what came since. */
  async tellAll(tell: Tell, region: Region, nowMs: number): Promise<void> {
    if (this.#untold !== undefined) await this.tell(tell, region, nowMs);
    if (this.#untold === undefined) await this.tell(tell, region, nowMs);
  }

  #next(): Delta | undefined {
    for (const { counts, key } of this.#sources)
      for (const [cause, count] of Object.entries(counts.read())) {
        const name = key(cause);
        const more = (count ?? 0) - (this.#taken.get(name) ?? 0);
        if (more > 0) this.#counts.set(name, (this.#counts.get(name) ?? 0) + more);
        this.#taken.set(name, count ?? 0);
      }
    if (this.#counts.size === 0) return undefined;
    const counted: Counted = Object.fromEntries(this.#counts);
    this.#counts.clear();
    return { isolate: this.#isolate, number: ++this.#number, counted };
  }
}
