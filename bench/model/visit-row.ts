import type { Congestion } from "./congestion.ts";
import { float, optionalFloat, type RowSchema, string } from "./row-schema.ts";

/** What every row of a visit's page has. An experiment adds what names place, treatment and page. */
export const PAGE_COLUMNS = {
  id: string(),
  congestion: string<Congestion>(),
  /** From 0. */
  visit: float,
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** To the end of the load event, or of the last file. */
  loadMs: optionalFloat,
  /** Of the busiest core, over 250 ms or more. */
  busyRatio: optionalFloat,
  /** Packets that left the emulated path over 1 ms late, of all; null where none did. */
  lateRatio: optionalFloat,
} as const satisfies RowSchema;

/** What a browser tells beside. Times since the navigation's start, milliseconds. */
export const BROWSER_COLUMNS = {
  ...PAGE_COLUMNS,
  /** What the document's Alt-Svc said. */
  answer: string<"offer" | "clear" | "none" | "">(),
  /** The largest contentful paint; null where nothing was painted that counts. */
  lcpMs: optionalFloat,
  ttfbMs: optionalFloat,
  /** Of the connection that the document came over; 0 where it was open already. */
  connectMs: optionalFloat,
  documentProtocol: string(),
} as const satisfies RowSchema;
