import { type Arms, type Estimate, ofEach } from "./arms.ts";
import { REACH } from "./client-day.ts";
import { intervalAt } from "./confidence-sequence.ts";
import { ASSIGNED } from "./contribution.ts";
import { beyondExpected } from "./lies.ts";
import { ratiosOf } from "./ratios.ts";
import type { Outcome, Sums } from "./sums.ts";

/** How many pages did not report. A page that a visitor left reports nothing, and an offer may change who leaves. */
export interface MissingReports {
  /** Of the pages that were decided about, 0 to 1. */
  readonly share: Arms<number>;
  /** The share of those offered less the share of those withheld. */
  readonly difference: Estimate;
  /** Whether the difference is shown to be another than 0. Then an effect's interval is widened by `shift`. */
  readonly differs: boolean;
  /**
   * By how much an effect can be wrong for the difference as it is. The pages that one arm reported and the other one would
   * not have reported are a share p of it. They could have taken any time that counts, so the mean of the others is at
   * most p / (1 - p) x (REACH + |mean|) away (Horowitz and Manski 1995; Lee 2009). The latter assumes that an offer
   * changes all clients' reporting in one direction.
   */
  readonly shift: number;
}

/** Compares how many pages reported. Undefined while an arm has too few clients. Pure. */
export function missingOf(arms: Arms<Sums>, outcome: Outcome): MissingReports | undefined {
  const [offered, withheld] = [arms.offered, arms.withheld].map(({ assigned }) => ratiosOf(assigned, ASSIGNED.decided));
  const times = ofEach(arms, (sums) => ratiosOf(sums[outcome]));
  if (offered === undefined || withheld === undefined) return undefined;
  const term = outcome === "load" ? ASSIGNED.reported : ASSIGNED.reportedLcp;
  const reported = ofEach({ offered, withheld }, ({ means }) => means[term] ?? 0);
  const value = reported.withheld - reported.offered;
  const se = Math.sqrt(offered.covariance(term, term) + withheld.covariance(term, term));
  const interval = intervalAt(value, se, { offered: offered.clients, withheld: withheld.clients });
  if (interval === undefined) return undefined;
  const more = reported.offered > reported.withheld ? times.offered : times.withheld;
  const most = Math.max(reported.offered, reported.withheld);
  const excess = most > 0 ? Math.abs(value) / most : 1;
  const mean = more === undefined ? 0 : Math.abs(beyondExpected(more.means));
  return {
    share: ofEach(reported, (share) => 1 - share),
    difference: { value, se, ...interval },
    differs: interval.low > 0 || interval.high < 0,
    shift: excess < 1 ? (excess / (1 - excess)) * (REACH + mean) : Number.POSITIVE_INFINITY,
  };
}
