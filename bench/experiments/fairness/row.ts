import { median } from "../../analysis/statistics/summary.ts";
import { whyDropped } from "../../harness/loads/batch.ts";
import type { Named } from "../../harness/missing.ts";
import { faultsOf, lateBetween, type PathStats } from "../../lab/path.ts";
import type { LoadRow } from "../../model/load-row.ts";
import type { LoadResult } from "../../model/plan.ts";
import { blankRow, float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import type { Sender } from "../../model/senders.ts";

/** Who the newcomer is. The others are always cubic. */
export const NEWCOMERS = [
  "cubic",
  "bbr",
  "quic-go",
  "quiche-cubic",
  "quiche-bbr2",
] as const satisfies readonly Sender[];
export type Newcomer = (typeof NEWCOMERS)[number];

export function overTcp(sender: Newcomer): sender is "cubic" | "bbr" {
  return sender === "cubic" || sender === "bbr";
}

/** A bottleneck, and how many flows of cubic the newcomer meets there. */
export interface FairPlace {
  readonly rateMbps: number;
  /** Of the empty path. */
  readonly rttMs: number;
  /** What may wait, as a multiple of rate x RTT. */
  readonly queueBdp: number;
  readonly others: number;
}

/** A run: one newcomer beside the others. */
export const FAIRNESS_ROW = {
  id: string(),
  rateMbps: float,
  rttMs: float,
  queueBdp: float,
  others: float,
  sender: string<Newcomer>(),
  round: float,
  startedMs: float,
  outcome: string<"ok" | "failed">(),
  error: string(),
  /** Why the run does not count: the machine was in the way. */
  dropped: string<LoadRow["dropped"]>(),
  /** By how much the newcomer began before the others; below 0: after them. */
  aheadMs: optionalFloat,
  /** Goodput: body bytes that the clients read in the seconds that count. */
  ownMbps: optionalFloat,
  /** Of all others together. */
  othersMbps: optionalFloat,
  /** What a packet waits at the bottleneck: the median of looks. */
  queueMs: optionalFloat,
  /** Packets that the queue had no room for, of all that came to it, of all flows. */
  lostRatio: optionalFloat,
  busyRatio: optionalFloat,
  lateRatio: optionalFloat,
} as const satisfies RowSchema;

export type FairnessRow = RowOf<typeof FAIRNESS_ROW>;

export function doesCount({ outcome, dropped }: FairnessRow): boolean {
  return outcome === "ok" && dropped === "";
}

export interface FairRun extends Named {
  readonly place: FairPlace;
  readonly sender: Newcomer;
  /** From 0. In even ones the newcomer begins first. */
  readonly round: number;
}

export interface Watched {
  readonly before: PathStats;
  readonly after: PathStats;
  /** On the data's direction, look by look. */
  readonly waitingBytes: readonly number[];
}

/** A flow has its whole time, so that all end by their timeout; one that ended otherwise, or over another protocol, has failed. */
export function rowOf(
  { id, place, sender, round }: FairRun,
  countedMs: number,
  own: readonly LoadResult[],
  theirs: readonly LoadResult[],
  { before, after, waitingBytes }: Watched,
  busyRatio: number,
): FairnessRow {
  const bad = [
    ...own.filter(({ lastProtocol }) => lastProtocol !== (overTcp(sender) ? "h2" : "h3")),
    ...theirs.filter(({ lastProtocol }) => lastProtocol !== "h2"),
    ...[...own, ...theirs].filter(({ outcome }) => outcome !== "timeout"),
  ];
  const mbps = (flows: readonly LoadResult[]): number =>
    (flows.reduce((sum, { bytes }) => sum + bytes, 0) * 8) / 1_000 / countedMs;
  const began = (flows: readonly LoadResult[]): number => Math.min(...flows.map(({ startedMs }) => startedMs));
  const lost = after.bToA.droppedQueue - before.bToA.droppedQueue;
  const lateRatio = lateBetween(before, after);
  const droppedFault = faultsOf(after.bToA) + faultsOf(after.aToB) - faultsOf(before.bToA) - faultsOf(before.aToB);
  const unknown = { loadMs: null, edgeCpuMs: null, clientCpuMs: null };
  return blankRow(FAIRNESS_ROW, {
    id,
    ...place,
    sender,
    round,
    startedMs: began(own),
    outcome: bad.length === 0 ? "ok" : "failed",
    error: bad[0]?.error ?? "",
    busyRatio,
    lateRatio,
    dropped: whyDropped({ busyRatio, lateRatio, droppedFault, ...unknown }),
    aheadMs: began(theirs) - began(own),
    ownMbps: mbps(own),
    othersMbps: mbps(theirs),
    queueMs: (median(waitingBytes) * 8) / 1_000 / place.rateMbps,
    lostRatio: lost / (lost + after.bToA.forwardedPackets - before.bToA.forwardedPackets),
  });
}
