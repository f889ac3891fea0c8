import { allocationOf, type LoadExperiment, loadsOf, loadsPerRound } from "../../model/load-experiment.ts";
import type { Cell } from "../../model/cell.ts";
import type { Flow } from "../../model/flow.ts";
import type { Arm } from "../../model/arm.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { judge } from "../../analysis/statistics/allocation.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

/** One load that is to be made. */
export interface Load {
  readonly id: string;
  readonly arm: Arm;
  readonly flow: Flow;
  /** The how manieth load of its arm and flow in this cell, from 0. */
  readonly round: number;
  /** Loads of one turn belong together: one of each arm and flow that has not more rows than the others. */
  readonly turn: number;
}

/** An arm that lacks rows that count after so many loads for each is given up: the machine is too busy for it. */
const ATTEMPTS_PER_ROW = 2;

const NONE: ReadonlySet<string> = new Set();

export function loadId(cell: Cell, arm: Arm, flow: Flow, round: number): string {
  return `${cell.id}/${arm}/${flow}/${round}`;
}

/**
 * The loads that a cell needs next, given the rows that it has; none when it is done. A function of the experiment, the
 * seed and the rows alone, so that a run goes on where another stopped: at any row.
 *
 * They come in rounds of one load of each arm and flow in random order; where rows were dropped, or a round was cut short,
 * the arms and flows that lack most come first.
 *
 * @param forgiven Loads that are not held against an arm when it comes to giving it up: of a start on a busier machine.
 */
export function nextLoads(
  experiment: LoadExperiment,
  cell: Cell,
  rows: readonly LoadRow[],
  seed: number,
  forgiven: ReadonlySet<string> = NONE,
): Load[] {
  const { first, cap } = allocationOf(experiment, cell);
  const open = loadsOf(experiment, cell)
    .map(({ arm, flow }) => {
      const own = rows.filter((row) => row.arm === arm && row.flow === flow);
      const tries = own.filter(({ id }) => !forgiven.has(id)).length;
      const perRound = loadsPerRound(cell, { arm, flow });
      const results = own.filter(isResult).length;
      const good = Math.floor(results / perRound);
      return { arm, flow, tries, perRound, results, made: new Set(own.map(({ round }) => round)), good };
    })
    .filter(({ tries, perRound }) => tries < cap * perRound * ATTEMPTS_PER_ROW);
  const good = Math.min(...open.map((load) => load.good));
  const wanted = good < first ? first : good >= cap ? cap : roundsWanted(experiment, cell, rows, good, seed, open);
  const loads: Load[] = [];
  for (let round = good; round < wanted; round++)
    for (const { load, copy } of shuffle(copiesOf(open), seededRandom(seed, "order", cell.id, round)))
      if (load.results <= round * load.perRound + copy) {
        const attempt = firstFree(load.made);
        load.made.add(attempt);
        loads.push({
          id: loadId(cell, load.arm, load.flow, attempt),
          arm: load.arm,
          flow: load.flow,
          round: attempt,
          turn: round,
        });
      }
  return loads;
}

function copiesOf<T extends { readonly perRound: number }>(loads: readonly T[]): { load: T; copy: number }[] {
  return loads.flatMap((load) => Array.from({ length: load.perRound }, (_, copy) => ({ load, copy })));
}

function firstFree(taken: ReadonlySet<number>): number {
  let number = 0;
  while (taken.has(number)) number++;
  return number;
}

/** A failed load is a result too: making it again would hide that it fails. */
function isResult(row: LoadRow): boolean {
  return row.dropped === "";
}

/** How many rows of each arm that count it takes before looking again; as many as there are where every answer is plain. */
function roundsWanted(
  experiment: LoadExperiment,
  cell: Cell,
  rows: readonly LoadRow[],
  good: number,
  seed: number,
  open: LoadExperiment["loads"],
): number {
  const { first, cap, comparisons } = allocationOf(experiment, cell);
  const isOpen = (flow: Flow, arm: Arm): boolean => open.some((load) => load.flow === flow && load.arm === arm);
  const nextLooks = comparisons.flatMap(({ flow, a, b }) => {
    if (!isOpen(flow, a) || !isOpen(flow, b)) return [];
    const times = (arm: Arm): number[] =>
      rows.flatMap((row) => (row.arm === arm && row.flow === flow && counts(row) ? [row.loadMs ?? 0] : []));
    const random = seededRandom(seed, "allocation", cell.id, flow, a, b);
    return judge({ a: times(a), b: times(b), min: first, cap, random }).nextRuns ?? [];
  });
  if (nextLooks.length === 0) return good;
  // Where loads failed there are fewer times than rounds: one more, then.
  return Math.min(cap, Math.max(good + 1, Math.min(...nextLooks)));
}
