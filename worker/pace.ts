/** A promise that is this late has died with its request, and another one may be made, milliseconds. */
export const PROMISE_LOST_MS = 10_000;

/**
 * When something leaves that leaves at most once in a while: one request promises it for all that come until then. A request may die
 * with its promise, and a clock may be set back. Pure: the time is an argument.
 */
export class Pace {
  readonly #everyMs: number;
  #leftAtMs = Number.NEGATIVE_INFINITY;
  /** Until when a promise may still be kept. */
  #promisedUntilMs = 0;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** @returns after how long it is due, milliseconds, which the caller then promises; undefined if it is promised. */
  promise(nowMs: number): number | undefined {
    // A time that is farther ahead is from before the clock was set back.
    const isAhead = (ms: number, most: number): boolean => nowMs < ms && ms <= nowMs + most;
    if (isAhead(this.#promisedUntilMs, this.#everyMs + PROMISE_LOST_MS)) return undefined;
    const dueMs = this.#leftAtMs + this.#everyMs;
    const waitMs = isAhead(dueMs, this.#everyMs) ? dueMs - nowMs : 0;
    this.#promisedUntilMs = nowMs + waitMs + PROMISE_LOST_MS;
    return waitMs;
  }

  /** A promise is kept. One that was made for later stays: whoever adds more until then relies on it. */
  keep(nowMs: number): void {
    if (this.#promisedUntilMs <= nowMs + PROMISE_LOST_MS) this.#promisedUntilMs = 0;
  }

  /** It leaves. */
  leave(nowMs: number): void {
    this.#leftAtMs = nowMs;
  }
}
