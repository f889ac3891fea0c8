import type { Machine } from "../../model/machine.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import type { OverheadArm } from "../../lab/loopback-arms.ts";
import { type Figure, figureOf, type RoundValue, type Spread, spread } from "../../analysis/statistics/round-figure.ts";
import type { Rounds } from "../../harness/requests.ts";
import { type Loop, LOOPS, type Size, SIZES } from "../../model/request-plan.ts";
import type { OverheadRow } from "./row.ts";
import { CLIENTS, WARM_SECONDS } from "../../lab/loopback-clients.ts";
import { OPEN_LOAD_RATIO } from "./schedule.ts";

/** What is compared, and beside which arm: the worker's own CPU time beside the least that a worker can do. */
export const FIGURES = {
  requestsPerSecond: "bare",
  latencyMedianMs: "bare",
  latencyP90Ms: "bare",
  latencyP99Ms: "bare",
  frontCpuUs: "bare",
  workerdCpuUs: "pass-through",
} as const satisfies Partial<Record<keyof OverheadRow, OverheadArm>>;
export type FigureName = keyof typeof FIGURES;

/** One arm under one load, over all rounds. */
export interface OverheadResult {
  readonly loop: Loop;
  readonly size: Size;
  readonly arm: OverheadArm;
  readonly rounds: number;
  /** Absent where there is nothing to measure: workerd in an arm without one. */
  readonly figures: Readonly<Partial<Record<FigureName, Figure>>>;
  readonly originCpuUs: Spread;
  readonly clientCpuUs: Spread;
  readonly foreignRatio: Spread;
  readonly answers: number;
  readonly failures: number;
  readonly dropped: number;
  /** Of the worst round; of an open loop. */
  readonly lateP99Ms: number | null;
}

export interface OverheadSummary {
  readonly command: string;
  readonly day: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly seed: number;
  readonly machine: Machine & { readonly nginx: string | null };
  readonly arms: readonly OverheadArm[];
  readonly sizesBytes: Readonly<Record<Size, number>>;
  readonly openLoadRatio: number;
  readonly clients: Readonly<Record<Loop, Readonly<Record<Size, number>>>>;
  /** Requests per second of the open loops. */
  readonly openRate: Readonly<Record<Size, number>>;
  readonly results: readonly OverheadResult[];
}

export function summarizeOverhead(run: {
  rows: readonly OverheadRow[];
  arms: readonly OverheadArm[];
  command: string;
  options: Rounds;
  machine: OverheadSummary["machine"];
}): OverheadSummary {
  const { rows, arms, command, options, machine } = run;
  const { rounds, seconds, seed } = options;
  const sizes = Object.keys(SIZES) as Size[];
  const one = (loop: Loop, size: Size): OverheadRow | undefined =>
    rows.find((row) => row.loop === loop && row.size === size);
  const bySize = (of: (size: Size) => number): Record<Size, number> => ({ small: of("small"), large: of("large") });
  return {
    command,
    day: new Date(Math.max(...rows.map(({ startedMs }) => startedMs))).toISOString().slice(0, 10),
    rounds,
    seconds,
    warmSeconds: WARM_SECONDS,
    seed,
    machine,
    arms,
    sizesBytes: SIZES,
    openLoadRatio: OPEN_LOAD_RATIO,
    clients: CLIENTS,
    openRate: bySize((size) => one("open", size)?.rate ?? 0),
    results: LOOPS.flatMap((loop) =>
      sizes.flatMap((size) => {
        const load = rows.filter((row) => row.loop === loop && row.size === size);
        return arms.map((arm) => resultOf(load, loop, size, arm, seed));
      }),
    ),
  };
}

function resultOf(
  load: readonly OverheadRow[],
  loop: Loop,
  size: Size,
  arm: OverheadArm,
  seed: number,
): OverheadResult {
  const own = load.filter((row) => row.arm === arm);
  const sum = (name: "answers" | "failures" | "dropped"): number => own.reduce((total, row) => total + row[name], 0);
  const lates = own.flatMap(({ lateP99Ms }) => lateP99Ms ?? []);
  const figures = (Object.keys(FIGURES) as FigureName[]).flatMap((name) => {
    // What was due at a rate and answered says nothing about how fast it could go.
    if (loop === "open" && name === "requestsPerSecond") return [];
    const values = (of: OverheadArm): RoundValue[] =>
      load.filter((row) => row.arm === of).map((row) => ({ round: row.round, value: row[name] }));
    const random = seededRandom(seed, "interval", loop, size, arm, name);
    const figure = figureOf(values(arm), values(FIGURES[name]), random);
    return figure === undefined ? [] : [[name, figure] as const];
  });
  return {
    loop,
    size,
    arm,
    rounds: own.length,
    figures: Object.fromEntries(figures),
    originCpuUs: spread(own.map((row) => row.originCpuUs)),
    clientCpuUs: spread(own.map((row) => row.clientCpuUs)),
    foreignRatio: spread(own.map((row) => row.foreignRatio)),
    answers: sum("answers"),
    failures: sum("failures"),
    dropped: sum("dropped"),
    lateP99Ms: lates.length === 0 ? null : Math.max(...lates),
  };
}
