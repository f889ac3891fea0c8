import { type Cell, type Experiment, type Flow } from "../experiments/experiment.ts";
import type { Arm } from "../experiments/arms.ts";
import { seededRandom, shuffle } from "../stats/random.ts";
import { judge } from "../stats/allocation.ts";
import { counts, type LoadRow } from "./row.ts";

/** One load that is to be made. */
export interface Load {
  readonly id: string;
  readonly arm: Arm;
  readonly flow: Flow;
  readonly round: number;
}

/** A cell where so many rounds did not give the rows that count is given up: the machine is too busy for it. */
const ATTEMPTS_PER_ROUND = 3;

export function loadId(cell: Cell, arm: Arm, flow: Flow, round: number): string {
  return `${cell.id}/${arm}/${flow}/${round}`;
}

/**
 * The loads that a cell needs next, given the rows that it has; none when it is done. A function of the experiment, the
 * seed and the rows alone, so that a run goes on where another stopped: at any row.
 *
 * A round is one load of each arm and flow in random order. Rows that were dropped are made up for in further rounds.
 */
export function nextLoads(experiment: Experiment, cell: Cell, rows: readonly LoadRow[], seed: number): Load[] {
  const have = new Set(rows.map(({ id }) => id));
  const begun = rows.reduce((most, { round }) => Math.max(most, round + 1), 0);
  const unfinished = rounds(experiment, cell, 0, begun, seed).filter(({ id }) => !have.has(id));
  if (unfinished.length > 0) return unfinished;
  const { first, cap } = experiment.allocation;
  const good = accepted(experiment, rows);
  if (begun >= cap * ATTEMPTS_PER_ROUND) return [];
  const wanted = good < first ? first : good >= cap ? good : roundsWanted(experiment, cell, rows, good, seed);
  return rounds(experiment, cell, begun, wanted - good, seed);
}

/** Rounds whose rows count, of the arm and flow that has fewest. */
function accepted(experiment: Experiment, rows: readonly LoadRow[]): number {
  const numbers = experiment.loads.map(
    ({ arm, flow }) => rows.filter((row) => row.arm === arm && row.flow === flow && isResult(row)).length,
  );
  return Math.min(...numbers);
}

/** A failed load is a result too: making it again would hide that it fails. */
function isResult(row: LoadRow): boolean {
  return row.dropped === "";
}

/** How many rounds that count it takes before looking again; as many as there are where every answer is plain. */
function roundsWanted(
  experiment: Experiment,
  cell: Cell,
  rows: readonly LoadRow[],
  good: number,
  seed: number,
): number {
  const { first, cap, comparisons } = experiment.allocation;
  const nextLooks = comparisons.flatMap(({ flow, a, b }) => {
    const times = (arm: Arm): number[] =>
      rows.flatMap((row) => (row.arm === arm && row.flow === flow && counts(row) ? [row.loadMs ?? 0] : []));
    const random = seededRandom(seed, "allocation", cell.id, flow, a, b);
    return judge({ a: times(a), b: times(b), min: first, cap, random }).nextRuns ?? [];
  });
  if (nextLooks.length === 0) return good;
  // Where loads failed there are fewer times than rounds: one more, then.
  return Math.min(cap, Math.max(good + 1, Math.min(...nextLooks)));
}

function rounds(experiment: Experiment, cell: Cell, from: number, count: number, seed: number): Load[] {
  return Array.from({ length: count }, (_, i) => from + i).flatMap((round) =>
    shuffle(
      experiment.loads.map(({ arm, flow }) => ({ id: loadId(cell, arm, flow, round), arm, flow, round })),
      seededRandom(seed, "order", cell.id, String(round)),
    ),
  );
}
