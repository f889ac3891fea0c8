import type { Arms } from "./arms.ts";
import { PAGES_COUNTED, REACH } from "./client-day.ts";
import { TIMES } from "./contribution.ts";
import type { Ratios } from "./ratios.ts";

/** The share of clients that lie, in each arm. */
export const LIARS = 0.05;

/**
 * By how much an estimate can be wrong at most if such a share of each arm's clients lies as well as it can: those of one
 * arm report the slowest pages that count, those of the other the fastest, and as many pages as count.
 *
 * The liars' pages are at most a share w of the pages that count. If m is the mean of ln(time / expected) as reported and h
 * that of honest clients, then m = (1 - w) h + w x liars' mean, so |m - h| is at most w / (1 - w) x (REACH + |m|).
 *
 * No bounds make this vanish as clients arrive, and no other estimate would: the best one against lies, the median, moves by
 * 0.066 deviations in each arm (Huber 1964), while its interval shrinks. So a large number of clients is no defence against
 * a constant share of liars, and what must hold against them has to be said with this beside it.
 */
export function liesShift(arms: Arms<Ratios>, share = LIARS): number {
  return shiftOf(arms.offered, share) + shiftOf(arms.withheld, share);
}

function shiftOf({ clients, per, means }: Ratios, share: number): number {
  const weight = (share * clients * PAGES_COUNTED) / per;
  return weight >= 1 ? Number.POSITIVE_INFINITY : (weight / (1 - weight)) * (REACH + Math.abs(beyondExpected(means)));
}

/** The mean of ln(time / expected time). */
export function beyondExpected(means: readonly number[]): number {
  return (means[TIMES.logs] ?? 0) - (means[TIMES.predicted] ?? 0);
}
