/** An address that sent so many wrong tokens in a minute gets no more tries in that minute. */
export const ATTEMPTS_MAX = 10;
const WINDOW_MS = 60_000;
/** How many addresses are counted at a time. One more, and the oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

/**
 * Counts wrong tokens by address, in one isolate. Addresses are hashed with a salt that lives as long as the isolate. The
 * count makes guessing slow and visible; 256 random bits make it hopeless.
 */
export class FailedAttempts {
  readonly #byAddress = new Map<string, { count: number; endsAtMs: number }>();
  #salt = "";

  /** How long this address has to wait, milliseconds; 0: not at all. */
  async waitMs(address: string, nowMs: number): Promise<number> {
    if (this.#byAddress.size === 0) return 0;
    const attempts = this.#byAddress.get(await this.#name(address));
    if (attempts === undefined || attempts.count < ATTEMPTS_MAX) return 0;
    // If the clock was set back, the minute begins again.
    attempts.endsAtMs = Math.min(attempts.endsAtMs, nowMs + WINDOW_MS);
    return Math.max(0, attempts.endsAtMs - nowMs);
  }

  async add(address: string, nowMs: number): Promise<void> {
    const name = await this.#name(address);
    const attempts = this.#byAddress.get(name);
    if (attempts !== undefined && attempts.endsAtMs > nowMs) {
      attempts.count++;
      return;
    }
    this.#byAddress.delete(name);
    for (const oldest of this.#byAddress.keys()) {
      if (this.#byAddress.size < ADDRESSES_MAX) break;
      this.#byAddress.delete(oldest);
    }
    this.#byAddress.set(name, { count: 1, endsAtMs: nowMs + WINDOW_MS });
  }

  async #name(address: string): Promise<string> {
    // Not in the constructor: workerd has no random bytes before the first request.
    if (this.#salt === "") this.#salt = crypto.randomUUID();
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(this.#salt + address));
    return btoa(String.fromCharCode(...new Uint8Array(digest, 0, 16)));
  }
}
