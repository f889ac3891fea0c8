/** A promise that is this late has died with its request, and another one may be made, milliseconds. */
export const PROMISE_LOST_MS = 10_000;
/** How long a request waits at most before it keeps its promise, milliseconds: Cloudflare lets it live for 30 s after its response. */
export const HOLD_MS = 25_000;
/** So long before the end of its wait, a later request takes a promise over that is for longer, milliseconds. */
const TAKE_OVER_MS = 15_000;

/**
 * When something leaves that leaves at most once in a while: one request promises it for all that come until then. A request may die
 * with its promise, and a clock may be set back. Pure: the time is an argument.
 */
export class Pace {
  readonly #everyMs: number;
  readonly #gathers: boolean;
  #leftAtMs = Number.NEGATIVE_INFINITY;
  /** Until when a promise may still be kept. */
  #promisedUntilMs = 0;
  /** Of a pace that gathers: since when something waits, and until when some request waits with it. */
  #sinceMs: number | undefined;
  #heldUntilMs = 0;

  /**
   * @param gathers Whether also the first piece waits that long. For longer than HOLD_MS it waits only while requests come that take
   *   the promise over.
   */
  constructor(everyMs: number, gathers = false) {
    this.#everyMs = everyMs;
    this.#gathers = gathers;
  }

  /**
   * @param mostMs The longest wait of a pace that gathers.
   * @returns after how long it is due, milliseconds, which the caller then promises; undefined if it is promised.
   */
  promise(nowMs: number, mostMs = HOLD_MS): number | undefined {
    if (this.#gathers) return this.#hold(nowMs, mostMs);
    // A time that is farther ahead is from before the clock was set back.
    const isAhead = (ms: number, most: number): boolean => nowMs < ms && ms <= nowMs + most;
    if (isAhead(this.#promisedUntilMs, this.#everyMs + PROMISE_LOST_MS)) return undefined;
    const dueMs = this.#leftAtMs + this.#everyMs;
    const waitMs = isAhead(dueMs, this.#everyMs) ? dueMs - nowMs : 0;
    this.#promisedUntilMs = nowMs + waitMs + PROMISE_LOST_MS;
    return waitMs;
  }

  #hold(nowMs: number, mostMs: number): number | undefined {
    if (this.#sinceMs === undefined || nowMs < this.#sinceMs) this.#sinceMs = nowMs;
    const dueMs = Math.max(nowMs, this.#sinceMs + this.#everyMs);
    const leftMs = this.#heldUntilMs - nowMs;
    const isHeld = leftMs > 0 && leftMs <= HOLD_MS;
    if (isHeld && (this.#heldUntilMs >= dueMs || leftMs > TAKE_OVER_MS)) return undefined;
    this.#heldUntilMs = Math.min(dueMs, nowMs + mostMs);
    return this.#heldUntilMs - nowMs;
  }

  /** Whether a later request has taken over what was promised for this moment: then it need not leave now. */
  isTakenOver(nowMs: number): boolean {
    return this.#gathers && nowMs < this.#heldUntilMs && this.#heldUntilMs <= nowMs + HOLD_MS;
  }

  /** A promise is kept. One that was made for later stays: whoever adds more until then relies on it. */
  keep(nowMs: number): void {
    if (this.#promisedUntilMs <= nowMs + PROMISE_LOST_MS) this.#promisedUntilMs = 0;
    if (this.#heldUntilMs <= nowMs) this.#heldUntilMs = 0;
  }

  /** It leaves. */
  leave(nowMs: number): void {
    this.#leftAtMs = nowMs;
    this.#sinceMs = undefined;
  }
}
