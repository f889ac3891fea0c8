import { list, number, object, parse, type Parsed, text } from "../reading/parse.ts";
import type { PageNews } from "./page-outcome.ts";

/** A page's report counts only for this long after its decision, milliseconds. */
export const REPORT_LIFE_MS = 3_600_000;
/** How many reports of a client count within that time. */
export const REPORTS_MAX = 32;
/** By how much the clocks of isolates and objects may differ, and how long a report may wait in an isolate, milliseconds. */
const SLACK_MS = 300_000;

/** A page whose report was counted. Plain JSON. */
export interface CountedPage {
  readonly nonce: string;
  /** Of its decision, milliseconds since the epoch. */
  readonly atMs: number;
}

/** What becomes of the reports of one client. */
export interface CountedPages {
  /** All pages that were counted and whose report could come again. At most REPORTS_MAX. */
  readonly held: readonly CountedPage[];
  /** Those that count. */
  readonly fresh: readonly PageNews[];
  /** How many were counted before. */
  readonly replayed: number;
  /** How many are beyond what counts of one client. */
  readonly crowded: number;
}

/**
 * Tells the reports that count from those that came before. A page is remembered for as long as its report is taken, and a
 * client of whom that many are remembered adds no more. So no report counts twice, and a client adds at most REPORTS_MAX
 * within REPORT_LIFE_MS. Pure.
 */
export function countPages(held: readonly CountedPage[], pages: readonly PageNews[], nowMs: number): CountedPages {
  const live = held.filter(({ atMs }) => nowMs - atMs < REPORT_LIFE_MS + SLACK_MS);
  const fresh: PageNews[] = [];
  let replayed = 0;
  let crowded = 0;
  for (const page of pages) {
    const { nonce, outcome } = page;
    if (live.some((counted) => counted.nonce === nonce)) replayed++;
    else if (live.length >= REPORTS_MAX) crowded++;
    else {
      fresh.push(page);
      live.push({ nonce, atMs: outcome.atMs });
    }
  }
  return { held: live, fresh, replayed, crowded };
}

const readCountedPage = object<CountedPage>({ nonce: text(16), atMs: number(0, Number.MAX_VALUE) });

/** Reads which pages of a client were counted. Never throws on data. */
export function parseCountedPages(input: unknown): Parsed<readonly CountedPage[]> {
  return parse(list(readCountedPage, 0, REPORTS_MAX), input);
}
