import { allocationOf, type LoadExperiment, loadsOf, loadsPerRound } from "../../model/load-experiment.ts";
import type { Cell, PlannedLoad } from "../../model/cell.ts";
import type { Flow } from "../../model/flow.ts";
import type { Arm } from "../../model/arm.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { judge } from "../../analysis/statistics/allocation.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

/** One load that is to be made. */
export interface Load extends PlannedLoad {
  readonly id: string;
  /** The how manieth load of its arm and flow in this cell, from 0. */
  readonly round: number;
  /** Loads of one turn belong together: one of each arm and flow that has not more rows than the others. */
  readonly turn: number;
}

/** An arm that lacks rows that count after so many loads for each is given up: the machine is too busy for it. */
const ATTEMPTS_PER_ROW = 2;

export function loadId(cell: Cell, arm: Arm, flow: Flow, round: number): string {
  return `${cell.id}/${arm}/${flow}/${round}`;
}

/**
 * The loads that a cell needs next, given the rows that it has; none when it is done. A function of the experiment, the
 * seed and the rows alone, so that a run goes on where another stopped: at any row.
 *
 * They come in rounds of one load of each arm and flow in random order; where rows were dropped, or a round was cut short,
 * the arms and flows that lack most come first.
 */
export function nextLoads(experiment: LoadExperiment, cell: Cell, rows: readonly LoadRow[], seed: number): Load[] {
  const { first, cap } = allocationOf(experiment, cell);
  const open = loadsOf(experiment, cell)
    .map(({ arm, flow }) => {
      const own = rows.filter((row) => row.arm === arm && row.flow === flow);
      const perRound = loadsPerRound(cell, { arm, flow });
      // A failed load is a result too: making it again would hide that it fails.
      const results = own.filter(({ dropped }) => dropped === "").length;
      return { arm, flow, perRound, results, tries: own.length, made: new Set(own.map(({ round }) => round)) };
    })
    .filter(({ tries, perRound }) => tries < cap * perRound * ATTEMPTS_PER_ROW);
  const good = Math.min(...open.map(({ results, perRound }) => Math.floor(results / perRound)));
  const wanted = good < first ? first : good >= cap ? cap : roundsWanted(experiment, cell, rows, good, seed, open);
  const loads: Load[] = [];
  for (let turn = good; turn < wanted; turn++) {
    const copies = open.flatMap((load) => Array.from({ length: load.perRound }, (_, copy) => ({ load, copy })));
    for (const { load, copy } of shuffle(copies, seededRandom(seed, "order", cell.id, turn))) {
      if (load.results > turn * load.perRound + copy) continue;
      const { arm, flow, made } = load;
      let round = 0;
      while (made.has(round)) round++;
      made.add(round);
      loads.push({ id: loadId(cell, arm, flow, round), arm, flow, round, turn });
    }
  }
  return loads;
}

/** How many rows of each arm that count it takes before looking again; as many as there are where every answer is plain. */
function roundsWanted(
  experiment: LoadExperiment,
  cell: Cell,
  rows: readonly LoadRow[],
  good: number,
  seed: number,
  open: readonly PlannedLoad[],
): number {
  const { first, cap, comparisons } = allocationOf(experiment, cell);
  const nextLooks = comparisons.flatMap(({ flow, a, b }) => {
    if ([a, b].some((arm) => !open.some((load) => load.flow === flow && load.arm === arm))) return [];
    const times = (arm: Arm): number[] =>
      rows.flatMap((row) => (row.arm === arm && row.flow === flow && counts(row) ? [row.loadMs ?? 0] : []));
    const random = seededRandom(seed, "allocation", cell.id, flow, a, b);
    return judge({ a: times(a), b: times(b), min: first, cap, random }).nextRuns ?? [];
  });
  if (nextLooks.length === 0) return good;
  // Where loads failed there are fewer times than rounds: one more, then.
  return Math.min(cap, Math.max(good + 1, Math.min(...nextLooks)));
}
