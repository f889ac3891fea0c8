import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { Flow } from "../../model/flow.ts";
import { withCommonHandshake } from "../loads/common-handshake.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { type Interval, ratioOfMeansInterval } from "../statistics/bootstrap.ts";
import { seededRandom } from "../statistics/random.ts";
import { regret, type Regret } from "../statistics/regret.ts";
import { mean, quantileOfSorted } from "../statistics/summary.ts";
import { type Group, groupsOf, isComparable, timesOf } from "../loads/groups.ts";

/** `trained-on-either`: decisions after a visit over either protocol together. */
export type DecisionFlow = Flow | "trained-on-either";

/** Regret of the adaptive arm in one cell and flow. */
export interface CellRegret {
  readonly cell: string;
  readonly network: string;
  readonly congestion: string;
  readonly flow: DecisionFlow;
  readonly regret: Omit<Regret, "expectedDraws">;
}

/** The mean regret over the networks of one congestion control that are no tie. */
export interface MeanRegret {
  readonly congestion: string;
  readonly flow: DecisionFlow;
  readonly networks: number;
  readonly ties: number;
  /** Of `expected`, with the bound that 95 % of such bounds lie above the truth; NaN where it is not known. */
  readonly expected: number;
  readonly upper95: number;
  /** Of `total`. */
  readonly raw: number;
}

/** Null where too few loads of an arm count. */
export interface Gain {
  readonly cell: string;
  readonly fixedH3: Interval | null;
  readonly alwaysOffer: Interval | null;
}

/** What an evaluation of arms found, for summary.json and the tables. */
export interface Evaluation {
  readonly groups: readonly Group[];
  readonly regrets: readonly CellRegret[];
  /** HTTP/3's gain from the first packet and by the switch, of cell and flow `trained`; ratios of means less 1. */
  readonly gains: readonly Gain[];
  /** What `adaptive` takes less than others, after a visit over either protocol; ratios of means less 1. */
  readonly cuts: readonly Cut[];
  readonly means: readonly MeanRegret[];
}

/** Below 0 `adaptive` is faster. Null where too few loads count. */
export interface Cut {
  readonly cell: string;
  readonly fixedH2: Interval | null;
  readonly alwaysOffer: Interval | null;
}

export function evaluate(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number): Evaluation {
  const flows: DecisionFlow[] = [...new Set(experiment.loads.map(({ flow }) => flow))];
  if (flows.includes("trained") && flows.includes("trained-on-h2")) flows.unshift("trained-on-either");
  const found = experiment.cells.flatMap((cell) => flows.flatMap((flow) => regretOf(cell, flow, rows, seed) ?? []));
  return {
    groups: groupsOf(experiment, rows, seed),
    regrets: found.map(({ regret: { expectedDraws: _draws, ...kept }, ...which }) => ({ ...which, regret: kept })),
    means: [...Map.groupBy(found, ({ congestion, flow }) => `${congestion} ${flow}`).values()].map(meanRegret),
    gains: experiment.cells.map((cell) => {
      const stay = timesOf(rows, cell.id, "fixed-h2", "trained");
      const over = (arm: Arm): Interval | null => {
        const times = timesOf(rows, cell.id, arm, "trained");
        if (!["fixed-h2" as const, arm].every((one) => isComparable(rows, cell.id, one, "trained"))) return null;
        return lessOne(ratioOfMeansInterval(stay, times, { random: seededRandom(seed, "gain", cell.id, arm) }));
      };
      return { cell: cell.id, fixedH3: over("fixed-h3"), alwaysOffer: over("always-offer") };
    }),
    cuts: experiment.cells.map((cell) => {
      const adaptive = (["trained", "trained-on-h2"] as const).flatMap((flow) =>
        timesOf(rows, cell.id, "adaptive", flow),
      );
      const against = (arm: Arm): Interval | null => {
        if (!isComparable(rows, cell.id, "adaptive", "trained") || !isComparable(rows, cell.id, arm, "trained"))
          return null;
        const random = seededRandom(seed, "cut", cell.id, arm);
        return lessOne(ratioOfMeansInterval(adaptive, timesOf(rows, cell.id, arm, "trained"), { random }));
      };
      return { cell: cell.id, fixedH2: against("fixed-h2"), alwaysOffer: against("always-offer") };
    }),
  };
}

/** A ratio as what it is above 1. */
export function lessOne({ estimate, low, high }: Interval): Interval {
  return { estimate: estimate - 1, low: low - 1, high: high - 1 };
}

/** What the arms do whose answers depend on nothing: where they did not run a flow of training, it is `trained`. */
const FIXED_FLOW = {
  "trained-on-either": "trained",
  "trained-on-h2": "trained",
  trained: "trained",
  cold: "cold",
  download: "download",
  reused: "reused",
  moved: "moved",
  resumed: "resumed",
  early: "early",
} as const satisfies Record<DecisionFlow, Flow>;

function regretOf(
  cell: Cell,
  flow: DecisionFlow,
  rows: readonly LoadRow[],
  seed: number,
): (CellRegret & { readonly regret: Regret }) | undefined {
  const fixed = FIXED_FLOW[flow];
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
  const found = regret(loads, { random: seededRandom(seed, "regret", cell.id, flow) });
  if (found === undefined) return undefined;
  return { cell: cell.id, network: cell.network.name, congestion: cell.congestion, flow, regret: found };
}

/** Draw by draw, as the distances to bounds of skewed figures do not add up. */
function meanRegret(all: readonly (CellRegret & { readonly regret: Regret })[]): MeanRegret {
  const decided = all.filter(({ regret: { tie } }) => !tie).map(({ regret: one }) => one);
  const draws = decided.map(({ expectedDraws }) => expectedDraws ?? []);
  const averaged = (draws[0] ?? []).map((_, i) => mean(draws.map((own) => own[i] ?? Number.NaN)));
  return {
    congestion: all[0]?.congestion ?? "",
    flow: all[0]?.flow ?? "trained",
    networks: decided.length,
    ties: all.length - decided.length,
    expected: mean(decided.map(({ expected }) => expected?.estimate ?? Number.NaN)),
    upper95: averaged.length === 0 ? Number.NaN : quantileOfSorted(Float64Array.from(averaged).sort(), 0.95),
    raw: mean(decided.map(({ total }) => total.estimate)),
  };
}
