import { bool, float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import type { LoadResult } from "../../model/plan.ts";
import type { Congestion } from "../../model/congestion.ts";
import type { PostedSample } from "../../lab/tee.ts";
import { measuredPath } from "../../harness/loads/sample-book.ts";
import { whyDropped } from "../../harness/loads/row-of.ts";
import { isOnB, type Scenario, type Stretch } from "./scenarios.ts";

/** One navigation: a session that begins on HTTP/2, with a document and one image. */
export const NAVIGATION_ROW = {
  id: string(),
  scenario: string<Scenario["name"]>(),
  congestion: string<Congestion>(),
  /** From 1. */
  client: float,
  stretch: string<Stretch>(),
  /** Within the stretch, from 1. */
  number: float,
  rateMbps: float,
  delayMs: float,
  lossRatio: float,
  imageBytes: float,
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** Why its time says little: the machine or the path was not what it should be. */
  dropped: string(),
  loadMs: optionalFloat,
  /** What the document advertised; `unknown` where none came. */
  answer: string<Answer>(),
  altSvc: string(),
  /** What clients that knew no other path settled on; known at the end, else empty. */
  settled: string<"offer" | "none" | "">(),
  documentProtocol: string(),
  lastProtocol: string(),
  switched: bool,
  tcpMinRttMs: optionalFloat,
  tcpPacketsSent: optionalFloat,
  tcpPacketsLost: optionalFloat,
  tcpDeliveryRateBps: optionalFloat,
  quicMinRttMs: optionalFloat,
  quicPacketsSent: optionalFloat,
  quicPacketsLost: optionalFloat,
  quicDeliveryRateBps: optionalFloat,
} as const satisfies RowSchema;

export type NavigationRow = RowOf<typeof NAVIGATION_ROW>;

export type Answer = "offer" | "none" | "clear" | "unknown";

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
  const { scenario, stretch } = navigation;
  const tcp = measuredPath(samples, "tcp", result.startedMs);
  const quic = measuredPath(samples, "quic", result.startedMs);
  return {
    ...(isOnB(stretch) ? scenario.b : scenario.a),
    ...result,
    ...navigation,
    id: navigationId(navigation),
    scenario: scenario.name,
    imageBytes: scenario.imageBytes,
    error: result.error.replaceAll("\n", " "),
    dropped: whyDropped(result),
    answer: answerOf(result),
    settled: "",
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
