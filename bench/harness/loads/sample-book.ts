import type { Transport } from "../../../policy-api/decision/sample.ts";
import type { PostedSample } from "../../lab/tee.ts";
import type { MeasuredPath } from "../../model/load-row.ts";

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

/**
 * What the edge counted of a client's connections over one transport in a stretch of time. Each client has an address of
 * its own, so the address tells the load. Of each connection the last reading counts; of several connections (HTTP/1.1)
 * counters add up and the one that sent most gives RTT and rate.
 */
export function measuredPath(
  samples: readonly PostedSample[],
  transport: Transport,
  fromMs: number,
  untilMs = Number.POSITIVE_INFINITY,
): MeasuredPath {
  const last = new Map<string, PostedSample>();
  for (const sample of samples)
    if (sample.transport === transport && sample.atMs >= fromMs && sample.atMs < untilMs)
      last.set(sample.connectionId, sample);
  const connections = [...last.values()];
  const main = connections.toSorted((a, b) => (b.bytesSent ?? 0) - (a.bytesSent ?? 0))[0];
  const sum = (field: "packetsSent" | "packetsLost"): number | null =>
    connections.some((sample) => sample[field] !== undefined)
      ? connections.reduce((total, sample) => total + (sample[field] ?? 0), 0)
      : null;
  return {
    rttMs: main?.rttMs ?? null,
    minRttMs: main?.minRttMs ?? null,
    packetsSent: sum("packetsSent"),
    packetsLost: sum("packetsLost"),
    deliveryRateBps: main?.deliveryRateBps ?? null,
  };
}
