import { PAGES_COUNTED, REACH } from "./client-day.ts";
import { type Arms, type Estimate, estimateOf, hasEnough, ofEach, reachAfter } from "./intervals.ts";
import { meanOf, type Ratios, ratiosOfBoth, type TimesTerm } from "./ratios.ts";
import { type Outcome, type Sums, TIMES } from "./sums.ts";

/** What an assignment to be offered HTTP/3 changes. Logarithms of times, as in a gain table: above 0 is faster. */
export interface Effect {
  /** Of which a page reported. */
  readonly clients: Arms<number>;
  /** ln(time of those withheld / time of those offered), the mean over pages. By assignment: who used HTTP/3 is not asked. */
  readonly gain: Estimate;
  /** The share of pages over HTTP/3 of those offered, less that of those withheld. */
  readonly compliance: Estimate;
  /** ln(HTTP/2's time / HTTP/3's) of the pages that the assignment changed. Undefined if too few are shown to have changed. */
  readonly local: Estimate | undefined;
  /** The share of pages whose time is out of reach of what was expected, 0 to 1. */
  readonly atBound: number;
  /** By how much 5 % of the clients in each arm can have moved the gain at most, if they lied. */
  readonly liesShift: number;
}

/**
 * Compares two arms. Undefined while one of them has too few clients. Pure.
 *
 * Gain: the difference of the arms' mean ln(time) per page, each a ratio of sums over clients, adjusted for the predicted
 * time (CUPED: Deng, Xu, Kohavi and Walker 2013) by the slope that makes its variance smallest. The predicted time is known
 * before the decision, so adjusting changes no expectation. A page at a bound does not move when times change: with a share
 * b of them an equal change of all pages moves the mean by 1 - b of it. So the difference is divided by 1 - b, of both arms'
 * mean, which is right to the second order.
 *
 * Local effect: gain over compliance (Angrist, Imbens and Rubin 1996). It assumes that an offer changes a page's time by the
 * protocol alone.
 */
export function effectOf(arms: Arms<Sums>, outcome: Outcome = "load"): Effect | undefined {
  const both = ratiosOfBoth(arms, outcome);
  if (both === undefined) return undefined;
  const { offered, withheld } = both;
  const clients = ofEach(both, (ratios) => ratios.clients);
  const atBound = (meanOf(offered, "atBound") + meanOf(withheld, "atBound")) / 2;
  if (!hasEnough(clients) || !(atBound < 1)) return undefined;
  const inReach = 1 - atBound;

  const slope = slopeOf(both);
  const adjusted = (arm: Ratios): number => meanOf(arm, "logs") - slope * meanOf(arm, "predicted");
  const value = (adjusted(withheld) - adjusted(offered)) / inReach;
  const residual =
    covariance(both, "logs", "logs") -
    2 * slope * covariance(both, "logs", "predicted") +
    slope ** 2 * covariance(both, "predicted", "predicted");
  const variance = Math.max(0, residual) / inReach ** 2;
  const compliance = meanOf(offered, "overH3") - meanOf(withheld, "overH3");
  const complianceVariance = covariance(both, "overH3", "overH3");

  const gain = estimateOf(value, Math.sqrt(variance), clients);
  const complied = estimateOf(compliance, Math.sqrt(complianceVariance), clients);
  if (gain === undefined || complied === undefined) return undefined;
  return {
    clients,
    gain,
    compliance: complied,
    local: quotientOf({
      numerator: value,
      denominator: compliance,
      numeratorVariance: variance,
      denominatorVariance: complianceVariance,
      // The gain falls where the compliance rises: it counts those offered negatively.
      covariance: -(covariance(both, "logs", "overH3") - slope * covariance(both, "predicted", "overH3")) / inReach,
      reach: reachAfter(clients.offered + clients.withheld),
    }),
    atBound,
    liesShift: liesShift(both) / inReach,
  };
}

/** Of the arms' difference: they are independent, so it is the sum of both. */
function covariance({ offered, withheld }: Arms<Ratios>, a: TimesTerm, b: TimesTerm): number {
  return offered.covariance(TIMES[a], TIMES[b]) + withheld.covariance(TIMES[a], TIMES[b]);
}

function slopeOf(arms: Arms<Ratios>): number {
  const spread = covariance(arms, "predicted", "predicted");
  return spread > 0 ? covariance(arms, "logs", "predicted") / spread : 0;
}

/** A numerator and a denominator that are both uncertain, and how many standard errors an interval reaches. */
export interface Quotient {
  readonly numerator: number;
  readonly denominator: number;
  readonly numeratorVariance: number;
  readonly denominatorVariance: number;
  readonly covariance: number;
  readonly reach: number;
}

/**
 * A quotient with Fieller's interval: all q for which numerator - q x denominator is within reach of 0. Undefined where the
 * denominator cannot be told from 0, or is below: then every q would do.
 *
 * Why Fieller's: for the true q, that difference has mean 0, and so its sequence holds at every look. Hence the set of all
 * q holds as well. An interval by the delta method has no such reason, and is too narrow where few clients change. The
 * standard error is the delta method's; it serves where evidence is weighed, not where something is claimed.
 */
export function quotientOf(given: Quotient): Estimate | undefined {
  const { numerator, denominator, numeratorVariance, denominatorVariance, reach } = given;
  const square = reach * reach;
  const a = denominator * denominator - square * denominatorVariance;
  if (!(a > 0 && denominator > 0)) return undefined;
  const b = numerator * denominator - square * given.covariance;
  const c = numerator * numerator - square * numeratorVariance;
  const root = Math.sqrt(Math.max(0, b * b - a * c));
  const value = numerator / denominator;
  const variance = numeratorVariance - 2 * value * given.covariance + value * value * denominatorVariance;
  return {
    value,
    se: Math.sqrt(Math.max(0, variance)) / denominator,
    low: (b - root) / a,
    high: (b + root) / a,
  };
}

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
