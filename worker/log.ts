/** Errors of one kind are this far apart in the log, milliseconds. */
const INTERVAL_MS = 10_000;

/** Writes errors of one kind to the log, at most one in ten seconds: an origin that is down fails every request. */
export class LimitedLog {
  readonly #kind: string;
  #writtenAtMs = Number.NEGATIVE_INFINITY;

  constructor(kind: string) {
    this.#kind = kind;
  }

  write(error: unknown): void {
    const nowMs = Date.now();
    // The clock may have been set back.
    if (Math.abs(nowMs - this.#writtenAtMs) < INTERVAL_MS) return;
    this.#writtenAtMs = nowMs;
    console.error(`${this.#kind}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
