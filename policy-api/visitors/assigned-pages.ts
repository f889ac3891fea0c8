import { REACH } from "./client-day.ts";
import { beyondExpected } from "./effect.ts";
import { type Arms, type Estimate, estimateOf, excludesZero, ofEach } from "./intervals.ts";
import { meanPerClient, type Ratios, ratiosOf, ratiosOfBoth } from "./ratios.ts";
import { ASSIGNED, clientsOf, type Outcome, type Sums } from "./sums.ts";

/**
 * The primary outcome: the gain over all pages that were decided about, reported or not, of all clients that were assigned. A
 * page without a report counts as the slowest that counts: four times what was expected. Undefined while an arm has too few
 * clients. Pure.
 *
 * An offer may change which pages report. This outcome has no pages to choose from, so its interval needs no assumption about
 * those that are missing; what it takes for their time is written here. If both arms lose the same share of pages it is
 * smaller than the gain of reported pages, by that share. Only for the load: a browser without the Largest Contentful Paint
 * loses no page by that.
 */
export function primaryOf(arms: Arms<Sums>): Estimate | undefined {
  const both = ratiosOfBoth(arms, "assigned", ASSIGNED.decided);
  return both && differenceOf(both, ASSIGNED.beyond);
}

/** The mean of those withheld less that of those offered. */
function differenceOf(both: Arms<Ratios>, term: number): Estimate | undefined {
  const { offered, withheld } = both;
  const value = (withheld.means[term] ?? 0) - (offered.means[term] ?? 0);
  const se = Math.sqrt(withheld.covariance(term, term) + offered.covariance(term, term));
  return estimateOf(
    value,
    se,
    ofEach(both, ({ clients }) => clients),
  );
}

/**
 * ln(pages per client offered / pages per client withheld), of all clients that were assigned. The server counts these
 * pages itself, so none is missing: this is the outcome that shows whether an offer changes who stays and who returns.
 * Undefined while an arm has too few clients. Pure.
 *
 * @param everyone Sums over all cells: to which cells a client comes may be an effect itself
 */
export function stayingOf(everyone: Arms<Sums>): Estimate | undefined {
  const offered = meanPerClient(everyone.offered.assigned, ASSIGNED.pages);
  const withheld = meanPerClient(everyone.withheld.assigned, ASSIGNED.pages);
  if (offered === undefined || withheld === undefined || !(offered.mean > 0 && withheld.mean > 0)) return undefined;
  const value = Math.log(offered.mean / withheld.mean);
  const se = Math.sqrt(offered.variance / offered.mean ** 2 + withheld.variance / withheld.mean ** 2);
  return estimateOf(value, se, clientsOf(everyone));
}

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
  const both = ratiosOfBoth(arms, "assigned", ASSIGNED.decided);
  const term = outcome === "load" ? ASSIGNED.reported : ASSIGNED.reportedLcp;
  const difference = both && differenceOf(both, term);
  if (both === undefined || difference === undefined) return undefined;
  const reported = ofEach(both, ({ means }) => means[term] ?? 0);
  const more = ratiosOf((reported.offered > reported.withheld ? arms.offered : arms.withheld)[outcome]);
  const most = Math.max(reported.offered, reported.withheld);
  const excess = most > 0 ? Math.abs(difference.value) / most : 1;
  const mean = more === undefined ? 0 : Math.abs(beyondExpected(more.means));
  return {
    share: ofEach(reported, (share) => 1 - share),
    difference,
    differs: excludesZero(difference),
    shift: excess < 1 ? (excess / (1 - excess)) * (REACH + mean) : Number.POSITIVE_INFINITY,
  };
}
