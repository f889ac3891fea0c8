import type { Arms, Estimate } from "./arms.ts";
import { intervalAt } from "./confidence-sequence.ts";
import { ASSIGNED } from "./contribution.ts";
import { ratiosOf } from "./ratios.ts";
import type { Sums } from "./sums.ts";

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
  const offered = ratiosOf(arms.offered.assigned, ASSIGNED.decided);
  const withheld = ratiosOf(arms.withheld.assigned, ASSIGNED.decided);
  if (offered === undefined || withheld === undefined) return undefined;
  const { beyond } = ASSIGNED;
  const value = (withheld.means[beyond] ?? 0) - (offered.means[beyond] ?? 0);
  const se = Math.sqrt(withheld.covariance(beyond, beyond) + offered.covariance(beyond, beyond));
  const interval = intervalAt(value, se, { offered: offered.clients, withheld: withheld.clients });
  return interval === undefined ? undefined : { value, se, ...interval };
}
