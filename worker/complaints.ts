const INTERVAL_MS = 10_000;

/** Says in the log what fails: once in a while, and not who asked for what. */
export class Complaints {
  readonly #what: string;
  #saidAtMs = Number.NEGATIVE_INFINITY;

  constructor(what: string) {
    this.#what = what;
  }

  say(error: unknown): void {
    const nowMs = Date.now();
    if (nowMs - this.#saidAtMs < INTERVAL_MS) return;
    this.#saidAtMs = nowMs;
    console.error(`${this.#what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
