import type { Random } from "../../analysis/statistics/random.ts";
import type { Direction } from "../../lab/path.ts";
import type { Probe } from "./settings.ts";

/** A packet that pathprobe sends: when, in nanoseconds since the first, and of how many IP bytes. */
export interface Packet {
  readonly dueNs: number;
  readonly bytes: number;
  /** Whether its delay is measured; else it is load. */
  readonly isProbe: boolean;
}

/** What a probe of a path sends, in order. */
export function packetsOf(probe: Probe, { rateMbps = 0 }: Direction, random: Random): Packet[] {
  // A fifth more than the bottleneck lets through.
  if (probe.mode === "rate") return evenly(probe.seconds * 1e9, 1_500, gapNs(1_500, 1.2 * rateMbps), true);
  if (probe.mode === "loss") return evenly(probe.packets * 50_000, 200, 50_000, true);
  // Exponential gaps see the time average of the queue (PASTA), which even ones, in step with the load, need not.
  let dueNs = 0;
  const probes = Array.from({ length: probe.packets }, () => {
    dueNs += Math.round(-Math.log(1 - random()) * probe.gapMs * 1e6);
    return { dueNs, bytes: 64, isProbe: true };
  });
  const load = probe.loadMbps === 0 ? [] : evenly(dueNs, 1_500, gapNs(1_500, probe.loadMbps), false);
  return [...load, ...probes].toSorted((one, other) => one.dueNs - other.dueNs);
}

function evenly(spanNs: number, bytes: number, everyNs: number, isProbe: boolean): Packet[] {
  return Array.from({ length: Math.round(spanNs / everyNs) }, (_, i) => ({
    dueNs: Math.round(i * everyNs),
    bytes,
    isProbe,
  }));
}

/** The time between packets of a size at a rate. */
export function gapNs(bytes: number, rateMbps: number): number {
  return (bytes * 8e3) / rateMbps;
}
