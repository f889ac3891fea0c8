import { type Arms, type Estimate } from "./arms.ts";
import { intervalAt } from "./confidence-sequence.ts";
import { ASSIGNED } from "./contribution.ts";
import { meanPerClient } from "./ratios.ts";
import type { Sums } from "./sums.ts";

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
  const clients = {
    offered: Number(everyone.offered.assigned.clients),
    withheld: Number(everyone.withheld.assigned.clients),
  };
  const interval = intervalAt(value, se, clients);
  return interval === undefined ? undefined : { value, se, ...interval };
}
