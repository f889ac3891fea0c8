import type { Load } from "./plan.ts";

export const FLOWS = [
  "download",
  "reused",
  "moved",
  "resumed",
  "early",
  "trained",
  "trained-on-h2",
  "cold",
  "visit",
  "three-pages",
  "return",
  "visit-after-h2",
] as const;

/** What a client does in one load; see sessions.ts. */
export type Flow = (typeof FLOWS)[number];

/** A page of a first visit is no download: its image is this large at the most. */
const COLD_IMAGE_BYTES = 1_000_000;

/** How large the image of a flow is in a cell that has images of `imageBytes`. */
export function imageBytesOf(flow: Flow, imageBytes: number): number {
  return flow === "cold" ? Math.min(imageBytes, COLD_IMAGE_BYTES) : imageBytes;
}

/** Whether a flow's pages before the last only prepare it. */
export function timesLastPage(flow: Flow): boolean {
  return flow === "reused";
}

/** What the sessions after the first take over from it. */
export function resumeOf(flow: Flow): Load["resume"] {
  return flow === "resumed" || flow === "return" ? "tickets" : flow === "early" ? "early-data" : undefined;
}
