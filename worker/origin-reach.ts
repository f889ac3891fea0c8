/** How long the origin may fail every request before the health says so, milliseconds. A restart of an origin takes less. */
const LOST_MS = 60_000;

/** Whether the origin answers this isolate. The edge may answer in its place, so that visitors see nothing (infra/edge/internal/origin). */
export class OriginReach {
  #sinceMs: number | undefined;
  #lastMs = 0;

  answered(): void {
    this.#sinceMs = undefined;
  }

  failed(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#lastMs = nowMs;
  }

  /** Whether requests came for a minute or longer, and the origin answered none of them. */
  get isLost(): boolean {
    return this.#sinceMs !== undefined && this.#lastMs - this.#sinceMs >= LOST_MS;
  }
}
