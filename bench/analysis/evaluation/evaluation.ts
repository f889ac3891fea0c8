import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { Flow } from "../../model/flow.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { type Interval, ratioOfMeansInterval } from "../statistics/bootstrap.ts";
import { type Random, seededRandom } from "../statistics/random.ts";
import { regret } from "../statistics/regret.ts";
import { mean, quantile } from "../statistics/summary.ts";
import { groupsOf, isComparable, timesOf } from "../loads/groups.ts";

/** `trained-on-either`: decisions after a visit over either protocol together. */
export type DecisionFlow = Flow | "trained-on-either";

/** What an evaluation of arms found, for summary.json and the tables. */
export type Evaluation = ReturnType<typeof evaluate>;

export function evaluate(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number) {
  const flows: DecisionFlow[] = [...new Set(experiment.loads.map(({ flow }) => flow))];
  if (flows.includes("trained") && flows.includes("trained-on-h2")) flows.unshift("trained-on-either");
  const found = experiment.cells.flatMap((cell) => flows.flatMap((flow) => regretOf(cell, flow, rows, seed) ?? []));
  return {
    groups: groupsOf(experiment, rows, seed),
    /** Of the adaptive arm in each cell and flow. */
    regrets: found.map(({ regret: { expectedDraws: _draws, ...kept }, ...which }) => ({ ...which, regret: kept })),
    /** Over the networks of one congestion control that are no tie. */
    means: [...Map.groupBy(found, ({ congestion, flow }) => `${congestion} ${flow}`).values()].map(meanRegret),
    /** HTTP/3's gain from the first packet and by the switch, of cell and flow `trained`; ratios of means less 1. */
    gains: experiment.cells.map(({ id }) => ({
      cell: id,
      fixedH3: compared(rows, id, "fixed-h2", "fixed-h3", seededRandom(seed, "gain", id, "fixed-h3")),
      alwaysOffer: compared(rows, id, "fixed-h2", "always-offer", seededRandom(seed, "gain", id, "always-offer")),
    })),
    /** What `adaptive` takes less than others, after a visit over either protocol; ratios of means less 1. Null where too few loads count. */
    cuts: experiment.cells.map(({ id }) => ({
      cell: id,
      fixedH2: compared(rows, id, "adaptive", "fixed-h2", seededRandom(seed, "cut", id, "fixed-h2")),
      alwaysOffer: compared(rows, id, "adaptive", "always-offer", seededRandom(seed, "cut", id, "always-offer")),
    })),
  };
}

/** Mean of one arm over that of the other, less 1, after a visit; of `adaptive` after one over either protocol. */
function compared(rows: readonly LoadRow[], cell: string, one: Arm, other: Arm, random: Random): Interval | null {
  if (![one, other].every((arm) => isComparable(rows, cell, arm, "trained"))) return null;
  const timesAfter = (arm: Arm): number[] => [
    ...timesOf(rows, cell, arm, "trained"),
    ...(arm === "adaptive" ? timesOf(rows, cell, arm, "trained-on-h2") : []),
  ];
  return lessOne(ratioOfMeansInterval(timesAfter(one), timesAfter(other), { random }));
}

/** A ratio as what it is above 1. */
export function lessOne({ estimate, low, high }: Interval): Interval {
  return { estimate: estimate - 1, low: low - 1, high: high - 1 };
}

function regretOf(cell: Cell, flow: DecisionFlow, rows: readonly LoadRow[], seed: number) {
  // Of the arms whose answers depend on nothing, which did not run the other flows of training.
  const fixed = flow === "trained-on-either" || flow === "trained-on-h2" ? "trained" : flow;
  const decided: Flow[] = flow === "trained-on-either" ? ["trained", "trained-on-h2"] : [flow];
  const own = rows.filter((row) => row.cell === cell.id && counts(row));
  const adaptiveRows = own.filter((row) => row.arm === "adaptive" && decided.includes(row.flow));
  const stayRows = own.filter((row) => row.arm === "fixed-h2" && row.flow === fixed);
  const switchRows = own.filter((row) => row.arm === "always-offer" && row.flow === fixed);
  const adaptive = withCommonHandshake(adaptiveRows, stayRows, switchRows);
  const stay = withCommonHandshake(stayRows, adaptiveRows, switchRows);
  const switched = withCommonHandshake(switchRows, adaptiveRows, stayRows);
  const times = (of: readonly LoadRow[]): number[] => of.flatMap(({ loadMs }) => loadMs ?? []);
  const firstByte = (loads: readonly LoadRow[]): number[] => loads.flatMap(({ ttfbMs }) => ttfbMs ?? []);
  const loads = {
    stayMs: times(stay),
    switchMs: times(switched),
    coldMs: timesOf(rows, cell.id, "fixed-h3", fixed),
    adaptive: adaptive.map((row) => ({ loadMs: row.loadMs ?? Number.NaN, switched: row.switched })),
    // Of three pages each is decided anew, and what a change of protocol costs in mid-session is no draw of losses.
    firstByteMs:
      fixed === "cold"
        ? undefined
        : { adaptive: firstByte(adaptiveRows), others: firstByte([...stayRows, ...switchRows]) },
  };
  const arms = ["fixed-h2", "always-offer", "fixed-h3"] as const;
  const comparable =
    arms.every((arm) => isComparable(rows, cell.id, arm, fixed)) &&
    decided.every((of) => isComparable(rows, cell.id, "adaptive", of));
  if (!comparable) return undefined;
  const random = seededRandom(seed, "regret", cell.id, flow);
  return {
    cell: cell.id,
    network: cell.network.name,
    congestion: cell.congestion,
    flow,
    regret: regret(loads, { random }),
  };
}

/** Draw by draw, as the distances to bounds of skewed figures do not add up. */
function meanRegret(all: readonly NonNullable<ReturnType<typeof regretOf>>[]) {
  const decided = all.filter(({ regret: { tie } }) => !tie).map(({ regret: one }) => one);
  const draws = decided.map(({ expectedDraws }) => expectedDraws ?? []);
  const averaged = (draws[0] ?? []).map((_, i) => mean(draws.map((own) => own[i] ?? Number.NaN)));
  return {
    congestion: all[0]?.congestion ?? "",
    flow: all[0]?.flow ?? "trained",
    networks: decided.length,
    ties: all.length - decided.length,
    /** With the bound that 95 % of such bounds lie above the truth; NaN where it is not known. */
    expected: mean(decided.map(({ expected }) => expected?.estimate ?? Number.NaN)),
    upper95: quantile(averaged, 0.95),
    /** Of `total`. */
    raw: mean(decided.map(({ total }) => total.estimate)),
  };
}

/**
 * The same loads, each with the mean first handshake of all that begin alike in the place of its own.
 *
 * The first handshake comes before any decision, so that it tells nothing of one; but a SYN that was lost costs a second
 * (RFC 6298 section 2.1), where a page may take ten milliseconds. What follows the handshake is left as it was.
 *
 * @param others loads of other arms that begin on the same protocol in the same network
 */
export function withCommonHandshake(rows: readonly LoadRow[], ...others: readonly (readonly LoadRow[])[]): LoadRow[] {
  const handshakes = [rows, ...others].flat().flatMap(({ handshakeMs }) => handshakeMs ?? []);
  if (handshakes.length === 0) return [...rows];
  const common = mean(handshakes);
  return rows.map((row) => {
    if (row.handshakeMs === null || row.loadMs === null || row.outcome !== "ok") return row;
    const moved = common - row.handshakeMs;
    const [first = "", ...later] = row.pagesMs.split(";");
    const pagesMs = first === "" ? "" : [String(Number(first) + moved), ...later].join(";");
    return { ...row, loadMs: row.loadMs + moved, pagesMs };
  });
}
