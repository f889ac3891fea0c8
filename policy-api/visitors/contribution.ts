import { type ClientDay, PAGES_COUNTED, REACH_FIXED, type Times } from "./client-day.ts";
import { SCALE } from "./fixed-point.ts";

/** What the sums are over. The first term of `load` and `lcp` is what the others are divided by. */
export const ASSIGNED = { pages: 0, decided: 1, reported: 2, beyond: 3, reportedLcp: 4 } as const;
export const TIMES = { pages: 0, logs: 1, predicted: 2, overH3: 3, atBound: 4 } as const;

export const ASSIGNED_TERMS = Object.keys(ASSIGNED).length;
export const TIMES_TERMS = Object.keys(TIMES).length;

/** How many pages a client counts for where it is asked who stays. */
export const PAGES_STAYED = 50;

/** What a client adds to the sums of its arm, in whole parts of 1 / SCALE. */
export interface Contribution {
  readonly assigned: readonly number[];
  readonly load: readonly number[];
  readonly lcp: readonly number[];
}

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
