import type { Arm } from "../../model/arm.ts";
import type { BrowserPage } from "../../model/browser-pages.ts";
import type { Congestion } from "../../model/congestion.ts";
import type { Columns } from "../../model/columns.ts";

/** One navigation of a browser. Times since its start, milliseconds. */
export interface BrowserRow {
  /** Place, page, arm, visit and navigation. */
  readonly id: string;
  readonly place: string;
  readonly congestion: Congestion;
  readonly page: BrowserPage;
  readonly arm: Arm;
  /** From 0. */
  readonly visit: number;
  /** Within the visit: 1 is the first visit, of a browser that knows nothing of the site. */
  readonly navigation: number;
  readonly startedMs: number;
  /** A navigation that takes longer than its limit counts as long as that, as a timeout. */
  readonly outcome: "ok" | "failed" | "timeout";
  readonly error: string;
  /** To the end of the load event. */
  readonly loadMs: number | null;
  /** The largest contentful paint; null where nothing was painted that counts. */
  readonly lcpMs: number | null;
  readonly ttfbMs: number | null;
  /** Of the connection that the document came over; 0 where it was open already. */
  readonly connectMs: number | null;
  readonly documentProtocol: string;
  /** What the page loaded beside the document, by protocol. */
  readonly resourcesH2: number | null;
  readonly resourcesH3: number | null;
  readonly resourceBytes: number | null;
  /** What the document's Alt-Svc said. */
  readonly answer: "offer" | "none" | "clear" | "";
  /** Of the busiest core, over 250 ms or more. */
  readonly busyRatio: number | null;
  /** Packets that left the emulated path over 1 ms late, of all; null without an emulated limit. */
  readonly lateRatio: number | null;
  readonly packetsDroppedLoss: number | null;
  readonly packetsDroppedQueue: number | null;
}

export const BROWSER_COLUMNS: Columns<BrowserRow> = {
  id: "text",
  place: "text",
  congestion: "text",
  page: "text",
  arm: "text",
  visit: "number",
  navigation: "number",
  startedMs: "number",
  outcome: "text",
  error: "text",
  loadMs: "number",
  lcpMs: "number",
  ttfbMs: "number",
  connectMs: "number",
  documentProtocol: "text",
  resourcesH2: "number",
  resourcesH3: "number",
  resourceBytes: "number",
  answer: "text",
  busyRatio: "number",
  lateRatio: "number",
  packetsDroppedLoss: "number",
  packetsDroppedQueue: "number",
};
