import type { GainsMethod } from "../decision/policy.ts";
import { missingOf } from "./assigned-pages.ts";
import { type Figure, figuresOf, indexOf } from "./figures.ts";
import { type Arms, hasEnough, ofEach } from "./intervals.ts";
import { type Beliefs, type Observation, posterior, stackPrior, type Weights } from "./posterior.ts";
import { meanOf, type Ratios, ratiosOfBoth } from "./ratios.ts";
import { type Cell, CELL_POSITIONS, type CellPosition } from "./row-keys.ts";
import { mergeArms, type Sums, TIMES } from "./sums.ts";

/** What the clients of one cell of a version add up to. */
export interface CellEvidence {
  readonly cell: Cell;
  readonly arms: Arms<Sums>;
}

/** What is thought of a table's figures after the evidence. */
export interface Learnt {
  readonly figures: readonly Figure[];
  /** In the order of the figures. */
  readonly after: Beliefs;
  /** How many clients of both arms had pages at each figure's own place. The other figures learn from places near it. */
  readonly clientsAt: readonly number[];
  /** Of both arms. A client counts in each of its cells. */
  readonly clients: number;
}

/** In a cell with fewer clients in an arm a mean is not near enough to normal. */
const CELL_CLIENTS_MIN = 5;
/** Where an offer hardly changes the protocol, a gain would be far beyond what was seen. */
const COMPLIANCE_MIN = 0.05;
/** No evidence is more certain. */
const VARIANCE_MIN = 1e-6;

/**
 * A table after the evidence. The table is the prior. A next page's or a return's gain is the effect of the assignment over
 * compliance; the price is the effect on a new client's first page, by assignment alone, as that page brings the offer. What
 * one cell says counts in others too, as stacks differ in all places together. What missing reports can have done is one
 * more unknown of each position: all its cells share it. Pure.
 */
export function learn({ table, mix }: Pick<GainsMethod, "table" | "mix">, evidence: readonly CellEvidence[]): Learnt {
  const figures = figuresOf(table);
  const clientsAt = figures.map(() => 0);
  const effects = CELL_POSITIONS.map((position) =>
    effectsOf(
      evidence.filter(({ cell }) => cell.position === position),
      position,
    ),
  );
  const observations = effects.flatMap(({ cells }, position) =>
    cells.map(({ cell, value, variance, compliance, clients }): Observation => {
      const weights: Weights = partsOf(cell, mix).map(([part, loss, weight]) => {
        return [indexOf(table, { part, size: cell.size, loss, rtt: cell.rtt }), weight * compliance];
      });
      for (const [index] of weights) clientsAt[index] = (clientsAt[index] ?? 0) + clients;
      return { weights: [...weights, [figures.length + position, 1]], value, variance };
    }),
  );
  const prior = stackPrior(table, figures);
  const unsure = effects.map((one) => one.unsure);
  const { means, covariance } = posterior(withUnsure(prior, unsure), observations);
  const all = figures.length;
  return {
    figures,
    clientsAt,
    clients: effects.reduce((sum, { cells }) => cells.reduce((more, one) => more + one.clients, sum), 0),
    after: { means: means.slice(0, all), covariance: covariance.slice(0, all).map((row) => row.slice(0, all)) },
  };
}

/** Which figures a cell's effect is made of: the price, or a gain at one loss or at the policy's mix of them. */
function partsOf({ position, loss }: Cell, mix: readonly number[]): [Figure["part"], number, number][] {
  if (position === "new") return [["price", 0, -1]];
  if (loss !== undefined) return [[position, loss, 1]];
  return mix.flatMap((weight, node): [Figure["part"], number, number][] =>
    weight > 0 ? [[position, node, weight]] : [],
  );
}

/** Further figures, one for each position: what missing reports have done, with these deviations. */
function withUnsure({ means, covariance }: Beliefs, unsure: readonly number[]): Beliefs {
  const zeros = unsure.map(() => 0);
  const rows = unsure.map((deviation, i) => [
    ...means.map(() => 0),
    ...unsure.map((_, j) => (i === j ? deviation ** 2 : 0)),
  ]);
  return { means: [...means, ...zeros], covariance: [...covariance.map((row) => [...row, ...zeros]), ...rows] };
}

const NOTHING = { cells: [], unsure: 0 };

/**
 * The effects in all cells of a position. Compliance, the share of pages out of reach, missing reports and how clients of one
 * cell differ are those of all its cells together: a cell may have few clients. None if an arm has too few clients in all of
 * them.
 */
function effectsOf(evidence: readonly CellEvidence[], position: CellPosition) {
  const sums = mergeArms(evidence.map(({ arms }) => arms));
  const all = ratiosOfBoth(sums, "load");
  if (all === undefined || !hasEnough(ofEach(all, ({ clients }) => clients))) return NOTHING;
  const compliance = position === "new" ? 1 : meanOf(all.offered, "overH3") - meanOf(all.withheld, "overH3");
  const inReach = 1 - (meanOf(all.offered, "atBound") + meanOf(all.withheld, "atBound")) / 2;
  const missing = missingOf(sums, "load");
  const unsure = missing?.differs === true ? missing.shift / inReach : 0;
  if (compliance < COMPLIANCE_MIN || !(inReach > 0) || !Number.isFinite(unsure)) return NOTHING;
  const known = evidence.flatMap(({ cell, arms }) => {
    const both = ratiosOfBoth(arms, "load");
    const isEnough = both !== undefined && Math.min(both.offered.clients, both.withheld.clients) >= CELL_CLIENTS_MIN;
    return isEnough ? [{ cell, ...both }] : [];
  });
  const spread = clientVariance(known.flatMap(({ offered, withheld }) => [offered, withheld]));
  const cells = known.map(({ cell, offered, withheld }) => ({
    cell,
    /** ln(time of those withheld / time of those offered). */
    value: (meanOf(withheld, "logs") - meanOf(offered, "logs")) / inReach,
    variance: Math.max(VARIANCE_MIN, (spread * (1 / offered.clients + 1 / withheld.clients)) / inReach ** 2),
    /** The share of pages that the assignment moved to HTTP/3. 1 for a price, which is an assignment's. */
    compliance,
    clients: offered.clients + withheld.clients,
  }));
  // By how much missing reports can have moved an effect, if the arms report differently; else 0.
  return { cells, unsure };
}

/** The variance of one client's mean ln(time) within an arm of a cell, of all of them together. */
function clientVariance(arms: readonly Ratios[]): number {
  const clients = arms.reduce((sum, arm) => sum + arm.clients, 0);
  const squares = arms.reduce(
    (sum, arm) => sum + arm.clients ** 2 * Math.max(0, arm.covariance(TIMES.logs, TIMES.logs)),
    0,
  );
  return clients > 0 ? squares / clients : 0;
}
