import { type Arms, type Estimate, ofEach } from "./arms.ts";
import { hasEnough, intervalAt, reachAfter } from "./confidence-sequence.ts";
import { TIMES } from "./contribution.ts";
import { quotientOf } from "./fieller.ts";
import { liesShift } from "./lies.ts";
import { type Ratios, ratiosOf } from "./ratios.ts";
import type { Outcome, Sums } from "./sums.ts";

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
  /** The share of the times' variance that the predicted times explain, 0 to 1. */
  readonly explained: number;
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
  const [offered, withheld] = [ratiosOf(arms.offered[outcome]), ratiosOf(arms.withheld[outcome])];
  if (offered === undefined || withheld === undefined) return undefined;
  const both = { offered, withheld };
  const clients = ofEach(both, (ratios) => ratios.clients);
  const atBound = (meanOf(offered, "atBound") + meanOf(withheld, "atBound")) / 2;
  if (!hasEnough(clients) || !(atBound < 1)) return undefined;
  const inReach = 1 - atBound;

  const slope = slopeOf(both);
  const adjusted = (arm: Ratios): number => meanOf(arm, "logs") - slope * meanOf(arm, "predicted");
  const value = (adjusted(withheld) - adjusted(offered)) / inReach;
  const logs = covariance(both, "logs", "logs");
  const residual =
    logs - 2 * slope * covariance(both, "logs", "predicted") + slope ** 2 * covariance(both, "predicted", "predicted");
  const variance = Math.max(0, residual) / inReach ** 2;
  const compliance = meanOf(offered, "overH3") - meanOf(withheld, "overH3");
  const complianceVariance = covariance(both, "overH3", "overH3");

  const gain = estimate(value, variance, clients);
  const complied = estimate(compliance, complianceVariance, clients);
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
    explained: logs > 0 ? Math.min(1, Math.max(0, 1 - residual / logs)) : 0,
    atBound,
    liesShift: liesShift(both) / inReach,
  };
}

type Term = keyof typeof TIMES;

function meanOf({ means }: Ratios, term: Term): number {
  return means[TIMES[term]] ?? Number.NaN;
}

/** Of the arms' difference: they are independent, so it is the sum of both. */
function covariance({ offered, withheld }: Arms<Ratios>, a: Term, b: Term): number {
  return offered.covariance(TIMES[a], TIMES[b]) + withheld.covariance(TIMES[a], TIMES[b]);
}

function slopeOf(arms: Arms<Ratios>): number {
  const spread = covariance(arms, "predicted", "predicted");
  return spread > 0 ? covariance(arms, "logs", "predicted") / spread : 0;
}

function estimate(value: number, variance: number, clients: Arms<number>): Estimate | undefined {
  const se = Math.sqrt(variance);
  const interval = intervalAt(value, se, clients);
  return interval === undefined ? undefined : { value, se, ...interval };
}
