import type { GainsMethod, Policy } from "../decision/policy.ts";
import { type Worth, worthOf } from "../decision/value.ts";
import type { Estimate } from "./arms.ts";
import { indexOf, type Part } from "./figures.ts";
import type { CellEvidence, Learnt } from "./learn.ts";
import { varianceOf } from "./posterior.ts";

/** How a new client is answered, at one RTT and size. */
export interface Turned {
  readonly rttMs: number;
  readonly contentBytes: number;
  /** The share of new clients that come here, 0 to 1. */
  readonly share: number;
  readonly answer: "offer" | "withhold";
}

export interface Expectation {
  /**
   * ln(time now / time with the new table), the mean over all page views of new clients' visits. Its interval is that of the
   * posterior, 95 %: it holds what the evidence leaves open, and not what the model of a visit does.
   */
  readonly gain: Estimate;
  /** Where the answer to a new client turns. */
  readonly turned: readonly Turned[];
}

/** Normal 95 %. */
const REACH_95 = 1.959964;

/**
 * What a new table is expected to save: where it answers a new client otherwise than the old one, the worth of that answer by
 * what is thought now. Where no answer turns, nothing is gained. Clients are taken as new ones, of the policy's mix. Pure.
 *
 * A client's cells share its path, so their errors go together, as if there were as many times fewer clients: the interval
 * is wider by the square root of that.
 */
export function expectationOf(
  policy: Policy,
  before: GainsMethod,
  after: GainsMethod,
  { after: beliefs }: Learnt,
  { evidence, cellsPerClient }: { readonly evidence: readonly CellEvidence[]; readonly cellsPerClient: number },
): Expectation {
  const { table, mix } = after;
  const fresh = evidence.filter(({ cell }) => cell.position === "new");
  const total = clientsOf(fresh);
  const turned: Turned[] = [];
  /** Of each figure in the value. */
  const weights = new Map<number, number>();
  let value = 0;
  let pageViews = 0;
  for (const [size, contentBytes] of table.contentBytes.entries())
    for (const [rtt, rttMs] of table.rttMs.entries()) {
      const here = fresh.filter(({ cell }) => cell.rtt === rtt && cell.size === size);
      const share = total === 0 ? 0 : clientsOf(here) / total;
      if (share === 0) continue;
      const visiting = { rttMs, contentBytes, isLater: false, paysPrice: true };
      const [old] = worthOf(before, policy, { state: "unknown" }, visiting);
      const [now] = worthOf(after, policy, { state: "unknown" }, visiting);
      pageViews += share * (1 + now.pages + now.returns);
      const [offered, offers] = [isOffered(policy, old), isOffered(policy, now)];
      if (offered === offers) continue;
      turned.push({ rttMs, contentBytes, share, answer: offers ? "offer" : "withhold" });
      const weight = offers ? share : -share;
      value += weight * (now.pages * now.next.gain + now.returns * now.return.gain - now.price);
      const add = (part: Part, loss: number, by: number): void => {
        const index = indexOf(table, { part, size, loss, rtt });
        weights.set(index, (weights.get(index) ?? 0) + weight * by);
      };
      for (const [loss, there] of mix.entries()) {
        add("next", loss, there * now.pages);
        add("return", loss, there * now.returns);
      }
      add("price", 0, -1);
    }
  const gain = pageViews > 0 ? value / pageViews : 0;
  const se = pageViews > 0 ? Math.sqrt(cellsPerClient * varianceOf(beliefs, [...weights])) / pageViews : 0;
  return { gain: { value: gain, se, low: gain - REACH_95 * se, high: gain + REACH_95 * se }, turned };
}

function clientsOf(evidence: readonly CellEvidence[]): number {
  return evidence.reduce(
    (sum, { arms: { offered, withheld } }) => sum + Number(offered.assigned.clients + withheld.assigned.clients),
    0,
  );
}

function isOffered({ margin }: Policy, { saving }: Worth): boolean {
  return saving.gain > margin.enter;
}
