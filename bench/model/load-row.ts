import { boolean, number, optionalNumber, type RowOf, type RowSchema, text } from "./row-schema.ts";
import type { Arm } from "./arm.ts";
import type { Flow } from "./flow.ts";
import type { Congestion } from "./congestion.ts";

/** What the sender counted of one transport's connections in one load. */
export interface MeasuredPath {
  /** Smoothed, at the connection's end: it holds the queue that the load itself made. */
  readonly rttMs: number | null;
  readonly minRttMs: number | null;
  readonly packetsSent: number | null;
  readonly packetsLost: number | null;
  readonly deliveryRateBps: number | null;
}

/** One load: what was asked, what came out, and what the sender and the path counted. */
export const LOAD_ROW = {
  /** Cell, arm, flow and round: what a run knows its loads by. */
  id: text(),
  cell: text(),
  congestion: text<Congestion>(),
  arm: text<Arm>(),
  flow: text<Flow>(),
  round: number,
  imageBytes: number,
  rateMbps: number,
  delayMs: number,
  lossRatio: number,
  startedMs: number,
  outcome: text<"ok" | "failed" | "timeout">(),
  error: text(),
  /** Why the row does not count: the machine or the path was not what it should be. Empty: it counts. */
  dropped: text<"" | "busy" | "late" | "fault">(),
  /** From the timed session's start to the last byte; of several pages the sum. A timeout's is the timeout. */
  loadMs: optionalNumber,
  /** Of each page, joined by semicolons. */
  pagesMs: text(),
  handshakeMs: optionalNumber,
  switchHandshakeMs: optionalNumber,
  ttfbMs: optionalNumber,
  documentProtocol: text(),
  lastProtocol: text(),
  switched: boolean,
  altSvc: text(),
  altSvcBroken: boolean,
  bytes: number,
  edgeCpuMs: optionalNumber,
  clientCpuMs: optionalNumber,
  /** Of the busiest core while it ran. */
  busyRatio: optionalNumber,
  /** Packets that left the emulated path over 1 ms later than due, of all. */
  lateRatio: optionalNumber,
  droppedLoss: optionalNumber,
  droppedQueue: optionalNumber,
  tcpRttMs: optionalNumber,
  tcpMinRttMs: optionalNumber,
  tcpPacketsSent: optionalNumber,
  tcpPacketsLost: optionalNumber,
  tcpDeliveryRateBps: optionalNumber,
  quicRttMs: optionalNumber,
  quicMinRttMs: optionalNumber,
  quicPacketsSent: optionalNumber,
  quicPacketsLost: optionalNumber,
  quicDeliveryRateBps: optionalNumber,
  /** What the session before had taught the server: its transport, and the same figures. */
  trainedOn: text(),
  trainedRttMs: optionalNumber,
  trainedMinRttMs: optionalNumber,
  trainedPacketsSent: optionalNumber,
  trainedPacketsLost: optionalNumber,
  trainedDeliveryRateBps: optionalNumber,
} as const satisfies RowSchema;

export type LoadRow = RowOf<typeof LOAD_ROW>;

/** Whether a load tells about the path and not about the machine's other work. */
export function counts(row: LoadRow): boolean {
  return row.dropped === "" && row.outcome !== "failed" && row.loadMs !== null;
}
