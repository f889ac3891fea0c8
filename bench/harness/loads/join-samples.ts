import type { Transport } from "../../../policy-api/core/sample.ts";
import type { PostedSample } from "../../lab/tee.ts";
import type { MeasuredPath } from "../../model/load-row.ts";

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
