import { boolean, list, number, object, optional, type Read, text } from "../decision/parse.ts";

/** A page's report counts only for this long after its decision, milliseconds. */
export const REPORT_LIFE_MS = 3_600_000;
/** How many pages of a client count within that time. */
export const COUNTED_PAGES_MAX = 32;
/** By how much the clocks of isolates and objects may differ, and how long news may wait in an isolate, milliseconds. */
const SLACK_MS = 300_000;

const readCountedPage = object({
  nonce: text(16),
  /** Of its decision, milliseconds since the epoch. */
  atMs: number(0, Number.MAX_VALUE),
  /** Its decision was counted, and its report was not. */
  isOpen: optional(boolean()),
});
/** A page that was counted. Plain JSON. */
export type CountedPage = Read<typeof readCountedPage>;

/**
 * `first`: nothing of the page was counted before. `decided`: its decision was, and this is its report. `replayed`: it was counted
 * before. `crowded`: it is beyond what counts of one client.
 */
export type PageFate = "first" | "decided" | "replayed" | "crowded";

/**
 * Says what a page's decision or report adds to the pages that were counted. They come in either order: a report says what was decided,
 * so the first of the two counts the page, and each counts once, however often it comes. A page is remembered for as long as its report
 * is taken, and a client of whom COUNTED_PAGES_MAX are remembered adds no more. Pure.
 */
export function countPage(
  pages: readonly CountedPage[],
  { nonce, atMs }: CountedPage,
  isReport: boolean,
  nowMs: number,
): { readonly pages: readonly CountedPage[]; readonly fate: PageFate } {
  const live = pages.filter((page) => nowMs - page.atMs < REPORT_LIFE_MS + SLACK_MS);
  const known = live.find((page) => page.nonce === nonce);
  if (known === undefined) {
    if (live.length >= COUNTED_PAGES_MAX) return { pages: live, fate: "crowded" };
    return { pages: [...live, { nonce, atMs, ...(isReport ? {} : { isOpen: true }) }], fate: "first" };
  }
  if (!isReport || known.isOpen !== true) return { pages: live, fate: "replayed" };
  return { pages: live.map((page) => (page === known ? { nonce, atMs } : page)), fate: "decided" };
}

/** Which pages of a client were counted, from a row, which is read like any input. */
export const readCountedPages = list(readCountedPage, 0, COUNTED_PAGES_MAX);
