import type { LoadResult } from "../../model/plan.ts";
import type { Congestion } from "../../model/congestion.ts";
import type { PostedSample } from "../../lab/tee.ts";
import type { Columns } from "../../model/columns.ts";
import { measuredPath } from "../../harness/loads/join-samples.ts";
import { whyDropped } from "../../harness/loads/row-of.ts";
import { networkOf, type Scenario, type Stretch } from "./scenarios.ts";

/** One navigation: a session that begins on HTTP/2, with a document and one image. */
export interface NavigationRow {
  readonly id: string;
  readonly scenario: Scenario["name"];
  readonly congestion: Congestion;
  /** From 1. */
  readonly client: number;
  readonly stretch: Stretch;
  /** Within the stretch, from 1. */
  readonly number: number;
  readonly rateMbps: number;
  readonly delayMs: number;
  readonly lossRatio: number;
  readonly imageBytes: number;
  readonly startedMs: number;
  readonly outcome: "ok" | "failed" | "timeout";
  readonly error: string;
  /** Why its time says little: the machine or the path was not what it should be. */
  readonly dropped: string;
  readonly loadMs: number | null;
  /** What the document advertised; `unknown` where none came. */
  readonly answer: Answer;
  readonly altSvc: string;
  /** What clients that knew no other path settled on; known at the end, else empty. */
  readonly settled: "offer" | "none" | "";
  readonly documentProtocol: string;
  readonly lastProtocol: string;
  readonly switched: boolean;
  readonly tcpMinRttMs: number | null;
  readonly tcpPacketsSent: number | null;
  readonly tcpPacketsLost: number | null;
  readonly tcpDeliveryRateBps: number | null;
  readonly quicMinRttMs: number | null;
  readonly quicPacketsSent: number | null;
  readonly quicPacketsLost: number | null;
  readonly quicDeliveryRateBps: number | null;
}

export type Answer = "offer" | "none" | "clear" | "unknown";

export const NAVIGATION_COLUMNS: Columns<NavigationRow> = {
  id: "text",
  scenario: "text",
  congestion: "text",
  client: "number",
  stretch: "text",
  number: "number",
  rateMbps: "number",
  delayMs: "number",
  lossRatio: "number",
  imageBytes: "number",
  startedMs: "number",
  outcome: "text",
  error: "text",
  dropped: "text",
  loadMs: "number",
  answer: "text",
  altSvc: "text",
  settled: "text",
  documentProtocol: "text",
  lastProtocol: "text",
  switched: "boolean",
  tcpMinRttMs: "number",
  tcpPacketsSent: "number",
  tcpPacketsLost: "number",
  tcpDeliveryRateBps: "number",
  quicMinRttMs: "number",
  quicPacketsSent: "number",
  quicPacketsLost: "number",
  quicDeliveryRateBps: "number",
};

/** Which navigation it is. */
export interface Navigation {
  readonly scenario: Scenario;
  readonly congestion: Congestion;
  readonly client: number;
  readonly stretch: Stretch;
  readonly number: number;
}

export function navigationId({ scenario, congestion, client, stretch, number }: Navigation): string {
  return `${scenario.name}/${congestion}/${client}/${stretch}/${number}`;
}

/** @param samples the client's readings so far; those since the navigation began count */
export function navigationRow(
  navigation: Navigation,
  result: LoadResult,
  samples: readonly PostedSample[],
): NavigationRow {
  const { scenario, congestion, client, stretch, number } = navigation;
  const { rateMbps, delayMs, lossRatio } = networkOf(scenario, stretch);
  const tcp = measuredPath(samples, "tcp", result.startedMs);
  const quic = measuredPath(samples, "quic", result.startedMs);
  return {
    id: navigationId(navigation),
    scenario: scenario.name,
    congestion,
    client,
    stretch,
    number,
    rateMbps,
    delayMs,
    lossRatio,
    imageBytes: scenario.imageBytes,
    startedMs: result.startedMs,
    outcome: result.outcome,
    error: result.error.replaceAll("\n", " "),
    dropped: whyDropped(result),
    loadMs: result.loadMs,
    answer: answerOf(result),
    altSvc: result.altSvc,
    settled: "",
    documentProtocol: result.documentProtocol,
    lastProtocol: result.lastProtocol,
    switched: result.switched,
    tcpMinRttMs: tcp.minRttMs,
    tcpPacketsSent: tcp.packetsSent,
    tcpPacketsLost: tcp.packetsLost,
    tcpDeliveryRateBps: tcp.deliveryRateBps,
    quicMinRttMs: quic.minRttMs,
    quicPacketsSent: quic.packetsSent,
    quicPacketsLost: quic.packetsLost,
    quicDeliveryRateBps: quic.deliveryRateBps,
  };
}

/** Only documents carry an Alt-Svc, and a session has one of them. */
export function answerOf({ altSvc, documentProtocol }: Pick<LoadResult, "altSvc" | "documentProtocol">): Answer {
  if (altSvc.startsWith("h3=")) return "offer";
  if (altSvc === "clear") return "clear";
  return documentProtocol === "" ? "unknown" : "none";
}
