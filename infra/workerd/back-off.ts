const FIRST_PAUSE_MS = 250;
/** A start costs little: workerd takes 60 ms. So the worker decides again within 2 s, however often workerd ends. */
const LONGEST_PAUSE_MS = 1_000;
/** A program that ran for this long is not failing again and again. */
const STEADY_MS = 60_000;

/** How long to wait before a program that ended by itself is started again. */
export class BackOff {
  #startedMs = 0;
  #failures = 0;

  started(nowMs: number): void {
    this.#startedMs = nowMs;
  }

  /** After a program ended, or did not start: 0 at first, then twice as long each time, up to the longest. Milliseconds. */
  pauseMs(nowMs: number): number {
    if (nowMs - this.#startedMs >= STEADY_MS) this.#failures = 0;
    const failures = this.#failures++;
    return failures === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  }
}
