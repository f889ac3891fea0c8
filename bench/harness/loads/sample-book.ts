import type { PostedSample } from "../../lab/tee.ts";

/** A closing sample comes a round trip after its connection's end; one that has not come by then will not. */
const WAIT_MS = 1_500;

/** The edges' readings by client, until the client's load is written down. */
export class SampleBook {
  readonly #samples = new Map<string, PostedSample[]>();
  readonly #waiting = new Map<string, () => void>();

  add(sample: PostedSample): void {
    const list = this.#samples.get(sample.clientAddress) ?? [];
    list.push(sample);
    this.#samples.set(sample.clientAddress, list);
    this.#waiting.get(sample.clientAddress)?.();
  }

  /**
   * All readings of a client, once so many connections have closed since a moment, or nothing more is to be expected.
   * The book forgets them.
   */
  async closed(client: string, sinceMs: number, connections: number): Promise<readonly PostedSample[]> {
    const done = Promise.withResolvers<void>();
    const look = (): void => {
      const closings = (this.#samples.get(client) ?? []).filter(({ closing, atMs }) => closing && atMs >= sinceMs);
      if (closings.length >= connections) done.resolve();
    };
    const timer = setTimeout(() => done.resolve(), WAIT_MS);
    this.#waiting.set(client, look);
    look();
    await done.promise;
    clearTimeout(timer);
    this.#waiting.delete(client);
    const samples = this.#samples.get(client) ?? [];
    this.#samples.delete(client);
    return samples;
  }
}
