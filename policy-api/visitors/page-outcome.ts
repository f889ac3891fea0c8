import type { Advertise } from "../decision/alt-svc.ts";
import { ASSIGNMENT_MS, type LastDecided, periodAt } from "../decision/assignment.ts";
import type { TablePlace } from "../decision/gain-table.ts";
import type { Remembered } from "../decision/history.ts";
import type { PathSample, Transport } from "../decision/sample.ts";
import { VISIT_GAP_MS } from "../decision/visit.ts";
import type { PageReport } from "./page-report.ts";
import { CELL_POSITIONS } from "./row-keys.ts";

/** By whom a client's answer was chosen: by the policy, or by a draw to offer or to withhold. */
export const ARMS = ["policy", "offer", "withhold"] as const;
export type Arm = (typeof ARMS)[number];

/**
 * Where a page stands among those of its client in this draw, by what was known before the decision. A draw begins with a period of
 * assignment, or with an activation within it.
 * `unknown`: nobody looked the client up, or the look-up was late. `redrawn`: the first page after a new draw, of a client that
 * was here before the draw; what it takes is of the earlier one, so it counts in no arm. `new`: the first page of a client that nobody
 * knows. `next`: a later page of a visit. `return`: the first page of a later visit.
 */
export const PAGE_POSITIONS = ["unknown", "redrawn", ...CELL_POSITIONS] as const;
export type PagePosition = (typeof PAGE_POSITIONS)[number];

export const ADVERTISED = ["nothing", "h3", "clear"] as const satisfies readonly Advertise["kind"][];

/** What was decided for a page, before anybody knew how long it would take. */
export interface PageDecision {
  readonly policyVersion: number;
  /** Of the activation. */
  readonly revision: number;
  readonly arm: Arm;
  readonly advertised: Advertise["kind"];
  /** The probability of this answer. */
  readonly propensity: number;
  readonly position: PagePosition;
  /** Of assignment. */
  readonly period: number;
  /** In the gain table of the version. Absent: it decides by none, or the RTT is not known. */
  readonly place?: TablePlace | undefined;
  /** Of the document. */
  readonly transport: Transport;
  /** Of the document's connection when it was decided, the smallest one where that is known, milliseconds. */
  readonly rttMs?: number | undefined;
  /** What the policy takes the page's transfer for, bytes. */
  readonly contentBytes: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** A page that was asked to report. */
export interface AskedPage extends PageDecision {
  /** Distinguishes it from all other pages. Its report has the same. */
  readonly nonce: string;
}

/**
 * What a page was decided on, and how long it took, milliseconds from the beginning of the navigation. The first part is
 * signed. The rest is what the page says.
 */
export interface PageOutcome extends PageDecision, Pick<PageReport, "connectMs" | "ttfbMs" | "loadMs" | "lcpMs"> {
  /** Present where `loadMs` is absent: when the visitor left. */
  readonly leftMs?: number | undefined;
  /** That came from the site itself before the load event, over HTTP/3 and over the rest. */
  readonly h3Bytes: number;
  readonly tcpBytes: number;
  /** Of the connection that brought the report: after the load, with its queues. Milliseconds, bytes per second. */
  readonly rttAfterMs?: number | undefined;
  readonly rateAfterBps?: number | undefined;
}

/** What the server itself knows of the connection that brought a report. */
export type AfterLoad = Pick<PathSample, "transport" | "rttMs" | "deliveryRateBps">;

/** A page's report as it reaches the object: the object counts it once, and only so many of a client. */
export interface PageNews {
  /** That of the page that was asked. */
  readonly nonce: string;
  readonly outcome: PageOutcome;
  /** What its connections showed. They count if the outcome does. */
  readonly samples: readonly PathSample[];
}

/** Clocks of two isolates may be this far apart, milliseconds. */
const CLOCKS_APART_MS = 2_000;

/**
 * Whether a report can be of this decision's page: it came over the protocol that the server knows; its first byte took no
 * less than half a round trip; and no more time has passed in the page than since the decision.
 */
export function isOfPage(decision: PageDecision, report: PageReport, nowMs: number): boolean {
  const { transport, rttMs = 0, atMs } = decision;
  return (
    (report.protocol === "h3") === (transport === "quic") &&
    // Figures of a report are whole milliseconds.
    report.ttfbMs + 1 >= rttMs / 2 &&
    report.atMs - report.ttfbMs <= nowMs - atMs + CLOCKS_APART_MS
  );
}

/** The outcome of a page. Pure. */
export function outcomeOf(decision: PageDecision, report: PageReport, after: AfterLoad): PageOutcome {
  const { connectMs, ttfbMs, loadMs, lcpMs, atMs, files } = report;
  const bytes = (isOf: (protocol: string) => boolean): number =>
    files.reduce((sum, file) => sum + (isOf(file.protocol) ? file.bytes : 0), 0);
  return {
    ...decision,
    connectMs,
    ttfbMs,
    ...(loadMs === undefined ? { leftMs: atMs } : { loadMs }),
    ...(lcpMs === undefined ? {} : { lcpMs }),
    h3Bytes: bytes((protocol) => protocol === "h3"),
    tcpBytes: bytes((protocol) => protocol !== "h3"),
    ...(after.rttMs === undefined ? {} : { rttAfterMs: after.rttMs }),
    ...(after.deliveryRateBps === undefined ? {} : { rateAfterBps: after.deliveryRateBps }),
  };
}

/** No name that a TLS edge gives to a connection begins so. */
const PAGES_PREFIX = "page:";

/**
 * What the page's readings say of its connections, as path samples. The rate after the load is of the connection that the
 * browser uses by then; whether it had sent enough for a rate, only the page's reading tells.
 */
export function samplesOf({ connections }: PageReport, after: AfterLoad, nowMs: number): readonly PathSample[] {
  return connections.flatMap(({ l4, agoMs }): readonly PathSample[] => {
    if (l4 === undefined) return [];
    const { connectionId, ...figures } = l4;
    const rateAfterBps = l4.transport === after.transport ? (after.deliveryRateBps ?? 0) : 0;
    const deliveryRateBps = Math.max(l4.deliveryRateBps ?? 0, rateAfterBps) || undefined;
    const atMs = nowMs - agoMs;
    return [{ ...figures, connectionId: PAGES_PREFIX + connectionId, atMs, deliveryRateBps, closing: false }];
  });
}

/**
 * A page's place among its client's in this draw, as the server knew it before the decision. Not by earlier answers: what is
 * withheld leaves none, and the arms must be told apart by nothing but the draw. A page that a drawn arm decided about in this period
 * was of the same arm (drawnArm). A connection was, if it was heard of since the draw: what was asked for may have been no page, or one that
 * was not asked to report.
 *
 * @param remembered Undefined if nobody asked, or no reply came in time.
 * @param pending News on its way to the store.
 * @param sinceMs When what is in force was activated. Before that, the policy may have decided for the client.
 */
export function positionOf(
  remembered: Remembered | undefined,
  pending: { readonly samples: readonly PathSample[]; readonly decided: readonly LastDecided[] },
  nowMs: number,
  sinceMs: number,
): PagePosition {
  if (remembered === undefined) return "unknown";
  const period = periodAt(nowMs);
  const decided = [...(remembered.decided === undefined ? [] : [remembered.decided]), ...pending.decided];
  const heard = [...(remembered.client?.connections ?? []), ...pending.samples, ...decided];
  if (heard.length === 0) return "new";
  if (!decided.some((page) => page.period === period)) {
    const drawnAtMs = Math.max(period * ASSIGNMENT_MS, sinceMs);
    if (decided.length > 0 || heard.some(({ atMs }) => atMs < drawnAtMs)) return "redrawn";
  }
  return heard.some(({ atMs }) => nowMs - atMs < VISIT_GAP_MS) ? "next" : "return";
}
