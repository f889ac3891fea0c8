import { float, optionalFloat, type RowOf, type RowSchema, string } from "./row-schema.ts";
import type { Congestion } from "./congestion.ts";

/** One page of a visit. Times since its navigation began, milliseconds. */
export const OFFER_ROW = {
  /** Network, congestion control, treatment, visit and page. */
  id: string(),
  network: string(),
  congestion: string<Congestion>(),
  treatment: string(),
  /** From 0. */
  visit: float,
  /** From 1; the last one is of the return. */
  page: float,
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** What the page's Alt-Svc said. */
  answer: string<"offer" | "clear" | "none" | "">(),
  /** To the end of the load event. */
  loadMs: optionalFloat,
  lcpMs: optionalFloat,
  ttfbMs: optionalFloat,
  /** Of the connection that the document came over; 0 where it was open already. */
  connectMs: optionalFloat,
  documentProtocol: string(),
  /** A digit for each file beside the document, in the order in which they were asked for: 2 or 3, the version of HTTP. */
  files: string(),
  resourceBytes: optionalFloat,
  /** Of the busiest core, over 250 ms or more. */
  busyRatio: optionalFloat,
  /** Packets that left the emulated path over 1 ms late, of all. */
  lateRatio: optionalFloat,
  packetsDroppedLoss: optionalFloat,
  packetsDroppedQueue: optionalFloat,
} as const satisfies RowSchema;

export type OfferRow = RowOf<typeof OFFER_ROW>;
