import { number, optionalNumber, type RowOf, type RowSchema, text } from "../../model/row-schema.ts";
import type { Arm } from "../../model/arm.ts";
import type { BrowserPage } from "../../model/browser-pages.ts";
import type { Congestion } from "../../model/congestion.ts";

/** One navigation of a browser. Times since its start, milliseconds. */
export const BROWSER_ROW = {
  /** Place, page, arm, visit and navigation. */
  id: text(),
  place: text(),
  congestion: text<Congestion>(),
  page: text<BrowserPage>(),
  arm: text<Arm>(),
  /** From 0. */
  visit: number,
  /** Within the visit: 1 is the first visit, of a browser that knows nothing of the site. */
  navigation: number,
  startedMs: number,
  /** A navigation that takes longer than its limit counts as long as that, as a timeout. */
  outcome: text<"ok" | "failed" | "timeout">(),
  error: text(),
  /** To the end of the load event. */
  loadMs: optionalNumber,
  /** The largest contentful paint; null where nothing was painted that counts. */
  lcpMs: optionalNumber,
  ttfbMs: optionalNumber,
  /** Of the connection that the document came over; 0 where it was open already. */
  connectMs: optionalNumber,
  documentProtocol: text(),
  /** What the page loaded beside the document, by protocol. */
  resourcesH2: optionalNumber,
  resourcesH3: optionalNumber,
  resourceBytes: optionalNumber,
  /** What the document's Alt-Svc said. */
  answer: text<"offer" | "none" | "clear" | "">(),
  /** Of the busiest core, over 250 ms or more. */
  busyRatio: optionalNumber,
  /** Packets that left the emulated path over 1 ms late, of all; null without an emulated limit. */
  lateRatio: optionalNumber,
  packetsDroppedLoss: optionalNumber,
  packetsDroppedQueue: optionalNumber,
} as const satisfies RowSchema;

export type BrowserRow = RowOf<typeof BROWSER_ROW>;
