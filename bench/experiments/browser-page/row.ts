import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import type { Arm } from "../../model/arm.ts";
import type { BrowserPage } from "../../model/browser-pages.ts";
import type { Congestion } from "../../model/congestion.ts";

/** One navigation of a browser. Times since its start, milliseconds. */
export const BROWSER_ROW = {
  /** Place, page, arm, visit and navigation. */
  id: string(),
  place: string(),
  congestion: string<Congestion>(),
  page: string<BrowserPage>(),
  arm: string<Arm>(),
  /** From 0. */
  visit: float,
  /** Within the visit: 1 is the first visit, of a browser that knows nothing of the site. */
  navigation: float,
  startedMs: float,
  /** A navigation that takes longer than its limit counts as long as that, as a timeout. */
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** To the end of the load event. */
  loadMs: optionalFloat,
  /** The largest contentful paint; null where nothing was painted that counts. */
  lcpMs: optionalFloat,
  ttfbMs: optionalFloat,
  /** Of the connection that the document came over; 0 where it was open already. */
  connectMs: optionalFloat,
  documentProtocol: string(),
  /** What the page loaded beside the document, by protocol. */
  resourcesH2: optionalFloat,
  resourcesH3: optionalFloat,
  resourceBytes: optionalFloat,
  /** What the document's Alt-Svc said. */
  answer: string<"offer" | "none" | "clear" | "">(),
  /** Of the busiest core, over 250 ms or more. */
  busyRatio: optionalFloat,
  /** Packets that left the emulated path over 1 ms late, of all; null without an emulated limit. */
  lateRatio: optionalFloat,
  packetsDroppedLoss: optionalFloat,
  packetsDroppedQueue: optionalFloat,
} as const satisfies RowSchema;

export type BrowserRow = RowOf<typeof BROWSER_ROW>;
