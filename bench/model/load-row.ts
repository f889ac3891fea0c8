import type { Arm } from "./arm.ts";
import type { Flow } from "./flow.ts";
import type { Congestion } from "./congestion.ts";
import type { Columns } from "./columns.ts";

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
export interface LoadRow {
  /** Cell, arm, flow and round: what a run knows its loads by. */
  readonly id: string;
  readonly cell: string;
  readonly congestion: Congestion;
  readonly arm: Arm;
  readonly flow: Flow;
  readonly round: number;
  readonly imageBytes: number;
  readonly rateMbps: number;
  readonly delayMs: number;
  readonly lossRatio: number;
  readonly startedMs: number;
  readonly outcome: "ok" | "failed" | "timeout";
  readonly error: string;
  /** Why the row does not count: the machine or the path was not what it should be. Empty: it counts. */
  readonly dropped: "" | "busy" | "late" | "fault";
  /** From the timed session's start to the last byte; of several pages the sum. A timeout's is the timeout. */
  readonly loadMs: number | null;
  /** Of each page, joined by semicolons. */
  readonly pagesMs: string;
  readonly handshakeMs: number | null;
  readonly switchHandshakeMs: number | null;
  readonly ttfbMs: number | null;
  readonly documentProtocol: string;
  readonly lastProtocol: string;
  readonly switched: boolean;
  readonly altSvc: string;
  readonly altSvcBroken: boolean;
  readonly bytes: number;
  readonly edgeCpuMs: number | null;
  readonly clientCpuMs: number | null;
  /** Of the busiest core while it ran. */
  readonly busyRatio: number | null;
  /** Packets that left the emulated path over 1 ms later than due, of all. */
  readonly lateRatio: number | null;
  readonly droppedLoss: number | null;
  readonly droppedQueue: number | null;
  readonly tcpRttMs: number | null;
  readonly tcpMinRttMs: number | null;
  readonly tcpPacketsSent: number | null;
  readonly tcpPacketsLost: number | null;
  readonly tcpDeliveryRateBps: number | null;
  readonly quicRttMs: number | null;
  readonly quicMinRttMs: number | null;
  readonly quicPacketsSent: number | null;
  readonly quicPacketsLost: number | null;
  readonly quicDeliveryRateBps: number | null;
  /** What the session before had taught the server: its transport, and the same figures. */
  readonly trainedOn: string;
  readonly trainedRttMs: number | null;
  readonly trainedMinRttMs: number | null;
  readonly trainedPacketsSent: number | null;
  readonly trainedPacketsLost: number | null;
  readonly trainedDeliveryRateBps: number | null;
}

export const COLUMNS: Columns<LoadRow> = {
  id: "text",
  cell: "text",
  congestion: "text",
  arm: "text",
  flow: "text",
  round: "number",
  imageBytes: "number",
  rateMbps: "number",
  delayMs: "number",
  lossRatio: "number",
  startedMs: "number",
  outcome: "text",
  error: "text",
  dropped: "text",
  loadMs: "number",
  pagesMs: "text",
  handshakeMs: "number",
  switchHandshakeMs: "number",
  ttfbMs: "number",
  documentProtocol: "text",
  lastProtocol: "text",
  switched: "boolean",
  altSvc: "text",
  altSvcBroken: "boolean",
  bytes: "number",
  edgeCpuMs: "number",
  clientCpuMs: "number",
  busyRatio: "number",
  lateRatio: "number",
  droppedLoss: "number",
  droppedQueue: "number",
  tcpRttMs: "number",
  tcpMinRttMs: "number",
  tcpPacketsSent: "number",
  tcpPacketsLost: "number",
  tcpDeliveryRateBps: "number",
  quicRttMs: "number",
  quicMinRttMs: "number",
  quicPacketsSent: "number",
  quicPacketsLost: "number",
  quicDeliveryRateBps: "number",
  trainedOn: "text",
  trainedRttMs: "number",
  trainedMinRttMs: "number",
  trainedPacketsSent: "number",
  trainedPacketsLost: "number",
  trainedDeliveryRateBps: "number",
};

/** Whether a load tells about the path and not about the machine's other work. */
export function counts(row: LoadRow): boolean {
  return row.dropped === "" && row.outcome !== "failed" && row.loadMs !== null;
}
