import { object, type Read } from "../decision/parse.ts";
import { type ClientDay, PAGES_COUNTED, REACH_FIXED, SCALE, type Times } from "./client-day.ts";
import { type Arms, ofEach } from "./intervals.ts";
import { combined, momentsOf, noMoments, readMoments } from "./moments.ts";

/** What the sums are over. The first term of `load` and `lcp` is what the others are divided by. */
export const ASSIGNED = { pages: 0, decided: 1, reported: 2, beyond: 3, reportedLcp: 4 } as const;
export const TIMES = { pages: 0, logs: 1, predicted: 2, overH3: 3, atBound: 4 } as const;

export const ASSIGNED_TERMS = Object.keys(ASSIGNED).length;
export const TIMES_TERMS = Object.keys(TIMES).length;

/** How many pages a client counts for where it is asked who stays. */
export const PAGES_STAYED = 50;

/** What a client adds to the sums of its arm, in whole parts of 1 / SCALE. */
type Contribution = Readonly<Record<keyof Sums, readonly number[]>>;

/**
 * What a client counts for. The same row always counts for the same. `beyond` is ln(time / expected time) of all pages that
 * were decided about: one that did not report counts as the slowest that counts. Pure.
 */
export function contributionOf({ decided, load, lcp }: ClientDay): Contribution {
  const weight = weightOf(decided);
  const beyond = load.logs - load.predicted + (decided - load.pages) * REACH_FIXED;
  return {
    assigned: [
      Math.min(decided, PAGES_STAYED) * SCALE,
      Math.round(decided * weight * SCALE),
      Math.round(load.pages * weight * SCALE),
      Math.round(beyond * weight),
      Math.round(lcp.pages * weight * SCALE),
    ],
    load: timesOf(load),
    lcp: timesOf(lcp),
  };
}

function timesOf({ pages, logs, predicted, overH3, atBound }: Times): readonly number[] {
  const weight = weightOf(pages);
  return [
    Math.round(pages * weight * SCALE),
    Math.round(logs * weight),
    Math.round(predicted * weight),
    Math.round(overH3 * weight * SCALE),
    Math.round(atBound * weight * SCALE),
  ];
}

/** How much each of so many pages counts. */
function weightOf(pages: number): number {
  return pages > PAGES_COUNTED ? PAGES_COUNTED / pages : 1;
}

export const NO_SUMS: Sums = {
  assigned: noMoments(ASSIGNED_TERMS),
  load: noMoments(TIMES_TERMS),
  lcp: noMoments(TIMES_TERMS),
};

/** What the pages of an outcome took: until the load event, or the largest contentful paint. */
export const OUTCOMES = ["load", "lcp"] as const satisfies readonly (keyof Sums)[];
export type Outcome = (typeof OUTCOMES)[number];

/** The sums with clients' rows as they are now in the place of the rows as they were. Exact. Pure. */
export function replaceAll(
  sums: Sums,
  clients: readonly { readonly before: ClientDay; readonly after: ClientDay }[],
): Sums {
  return clients.reduce((sum, { before, after }) => merge(merge(sum, sumsOf(before), -1n), sumsOf(after)), sums);
}

/** The sums of one client alone. */
function sumsOf(day: ClientDay): Sums {
  const { assigned, load, lcp } = contributionOf(day);
  return { assigned: momentsOf(assigned), load: momentsOf(load), lcp: momentsOf(lcp) };
}

/** Sums of different clients together: of two objects, two cells or two periods. Pure. @param sign -1n takes `b` out of `a` */
export function merge(a: Sums, b: Sums, sign: 1n | -1n = 1n): Sums {
  return {
    assigned: combined(a.assigned, b.assigned, sign),
    load: combined(a.load, b.load, sign),
    lcp: combined(a.lcp, b.lcp, sign),
  };
}

/** The same for both arms of several cells or classes. Pure. */
export function mergeArms(all: readonly Arms<Sums>[]): Arms<Sums> {
  return {
    offered: all.reduce((sums, { offered }) => merge(sums, offered), NO_SUMS),
    withheld: all.reduce((sums, { withheld }) => merge(sums, withheld), NO_SUMS),
  };
}

/** How many clients each arm has: those that were assigned, or those of which a page said an outcome. */
export function clientsOf(arms: Arms<Sums>, of: keyof Sums = "assigned"): Arms<number> {
  return ofEach(arms, (sums) => Number(sums[of].clients));
}

/** Sums, or what has some, as JSON: whole numbers are text, as `readSums` reads them. */
export function sumsText(sums: object): string {
  return JSON.stringify(sums, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

export const readSums = object({
  /** Over clients about whose pages was decided: terms `ASSIGNED`. */
  assigned: readMoments(ASSIGNED_TERMS),
  /** Over clients of which a page reported: terms `TIMES`. */
  load: readMoments(TIMES_TERMS),
  lcp: readMoments(TIMES_TERMS),
});
/** What the clients of one arm add up to, in one cell or in all. No client can be told from it. */
export type Sums = Read<typeof readSums>;
