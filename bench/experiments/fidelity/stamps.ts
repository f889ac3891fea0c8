import { quantileOfSorted } from "../../analysis/statistics/summary.ts";
import type { Direction } from "../../lab/path.ts";
import { gapNs, type Packet } from "./packets.ts";

/** What pathprobe prints (bench/instrument/netpath/cmd/pathprobe): of each packet, nanoseconds since the run began. */
export interface Stamps {
  readonly sentNs: readonly number[];
  /** -1: it did not arrive. */
  readonly receivedNs: readonly number[];
  /** Packets that the receiver's own socket had no room for. */
  readonly receiverDrops: number;
  readonly clockStepNs: number;
}

/** Quantiles of how much later packets came than over a perfect path, milliseconds. */
export function delayErrorsMs(
  packets: readonly Packet[],
  { sentNs, receivedNs }: Stamps,
  asked: Direction,
): (probability: number) => number {
  const ideal = idealNs(packets, sentNs, asked);
  const errors = packets.flatMap(({ isProbe }, i) => {
    const received = receivedNs[i] ?? -1;
    return isProbe && received >= 0 ? [(received - (sentNs[i] ?? 0) - (ideal[i] ?? 0)) / 1e6] : [];
  });
  errors.sort((one, other) => one - other);
  return (probability) => quantileOfSorted(errors, probability);
}

/**
 * What each packet's one-way delay would be on a perfect path: its wait for the bottleneck (Lindley's recursion over the
 * times at which the packets were really sent), its own serialisation, the delay. Written apart from netpath's shaper, so
 * that a mistake there is not repeated here.
 */
export function idealNs(
  packets: readonly Packet[],
  sentNs: readonly number[],
  { rateMbps, delayMs = 0 }: Direction,
): number[] {
  let freeNs = 0;
  return packets.map(({ bytes }, i) => {
    const sent = sentNs[i] ?? 0;
    freeNs = rateMbps === undefined ? sent : Math.max(sent, freeNs) + gapNs(bytes, rateMbps);
    return freeNs - sent + delayMs * 1e6;
  });
}

/** The rate of what arrived in the middle of the run (after the queue has filled, before the sender ends), and the sender's. */
export function rates(
  packets: readonly Packet[],
  { sentNs, receivedNs }: Stamps,
  { delayMs = 0 }: Direction,
): { rateMbps: number; offeredMbps: number } {
  const [first = 0, last = 0] = [sentNs[0], sentNs.at(-1)];
  const fromNs = first + (FILLS_MS + delayMs) * 1e6;
  const arrived = packets
    .map(({ bytes }, i) => ({ bytes, atNs: receivedNs[i] ?? -1 }))
    .filter(({ atNs }) => atNs >= fromNs && atNs <= last);
  const bytesOf = (some: readonly { readonly bytes: number }[]): number =>
    some.reduce((sum, { bytes }) => sum + bytes, 0);
  const spanNs = (arrived.at(-1)?.atNs ?? 0) - (arrived[0]?.atNs ?? 0);
  return {
    // The first one's bytes were sent before its stamp.
    rateMbps: spanNs > 0 ? (bytesOf(arrived.slice(1)) * 8e3) / spanNs : 0,
    offeredMbps: (bytesOf(packets) * 8e3) / (last - first),
  };
}

const FILLS_MS = 200;

/** How many packets were lost. */
export function lossesOf({ receivedNs }: Stamps): number {
  return receivedNs.filter((atNs) => atNs < 0).length;
}

/** Packets that came after one that was sent later. */
export function reorderedIn({ receivedNs }: Stamps): number {
  let latest = -1;
  return receivedNs.filter((atNs) => {
    const isEarly = atNs >= 0 && atNs < latest;
    latest = Math.max(latest, atNs);
    return isEarly;
  }).length;
}
