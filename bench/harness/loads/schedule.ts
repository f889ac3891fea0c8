import { allocationOf, type LoadExperiment, loadsOf, loadsPerRound } from "../../model/load-experiment.ts";
import type { Cell, PlannedLoad } from "../../model/cell.ts";
import type { Flow } from "../../model/flow.ts";
import type { Arm } from "../../model/arm.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { judge } from "../../analysis/statistics/allocation.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { sessionsOf } from "../../model/sessions.ts";

/** One load that is to be made. */
export interface Load extends PlannedLoad {
  readonly id: string;
  /** The how manieth load of its arm and flow in this cell, from 0. */
  readonly round: number;
  /** Loads of one turn belong together: one of each arm and flow that has not more rows than the others. */
  readonly turn: number;
}

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
  const { attemptsPerRow = 2 } = experiment;
  const open = loadsOf(experiment, cell)
    .map(({ arm, flow }) => {
      const own = rows.filter((row) => row.arm === arm && row.flow === flow);
      const perRound = loadsPerRound(cell, { arm, flow });
      // A failed load is a result too: making it again would hide that it fails.
      const results = own.filter(({ dropped }) => dropped === "").length;
      return { arm, flow, perRound, results, tries: own.length, made: new Set(own.map(({ round }) => round)) };
    })
    // An arm that has all its rows lacks none, however many tries they took.
    .filter(({ tries, results, perRound }) => {
      const most = cap * perRound;
      return results >= most || tries < most * attemptsPerRow;
    });
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

const PACKET_BYTES = 1_400;
/** Connection setup, the pause between sessions, closing samples, a share of k6's start. */
const OVERHEAD_SECONDS = 0.5;

interface CellWork {
  readonly cell: Cell;
  readonly rows: LoadRow[];
  readonly loadsPerRound: number;
  readonly secondsPerRound: number;
  /** Undefined until it is asked for. */
  next: readonly Load[] | undefined;
}

/** What an experiment has left to measure, and how much of its expected time is behind it. */
export class Work {
  readonly #experiment: LoadExperiment;
  readonly #seed: number;
  readonly #cells: ReadonlyMap<string, CellWork>;

  /** @param lanes how many light cells are measured at a time */
  constructor(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number, lanes: number) {
    this.#experiment = experiment;
    this.#seed = seed;
    const rowsOf = Map.groupBy(rows, ({ cell }) => cell);
    this.#cells = new Map(
      experiment.cells.map((cell) => {
        const counted = loadsOf(experiment, cell).map((load) => ({ load, count: loadsPerRound(cell, load) }));
        const seconds = counted.map(({ load, count }) => count * expectedSeconds(experiment, cell, load));
        const work: CellWork = {
          cell,
          rows: [...(rowsOf.get(cell.id) ?? [])],
          loadsPerRound: sum(counted.map(({ count }) => count)),
          secondsPerRound: sum(seconds) / (isHeavy(cell) ? 1 : lanes),
          next: undefined,
        };
        return [cell.id, work];
      }),
    );
    for (const cell of experiment.cells) this.next(cell);
  }

  /** The loads that a cell needs next; none when it is done. */
  next(cell: Cell): readonly Load[] {
    const work = this.#of(cell.id);
    // Deciding takes bootstraps, on cores that others are measured on: once for each new row, and never for what is done.
    work.next ??= nextLoads(this.#experiment, cell, work.rows, this.#seed);
    return work.next;
  }

  add(row: LoadRow): void {
    const work = this.#of(row.cell);
    work.rows.push(row);
    if (work.next?.length !== 0) work.next = undefined;
  }

  /** From 0 to 1; 1 where nothing is left. */
  share(): number {
    const all = [...this.#cells.values()].map(({ rows, next, ...work }) => ({
      ...work,
      rounds: rows.length / work.loadsPerRound,
      isDone: next?.length === 0,
    }));
    const done = all.filter(({ isDone }) => isDone);
    if (done.length === all.length) return 1;
    const { allocation, rounds: given } = this.#experiment;
    // Until some cells have shown how many rounds an answer takes: half-way between the fewest and the most.
    const guess = 3 * ((allocation.first + allocation.cap) / 2);
    const usual = (sum(done.map(({ rounds }) => rounds)) + guess) / (done.length + 3);
    const expected = all.map(({ cell, rounds, isDone, secondsPerRound }) => {
      const roundsInAll = isDone ? rounds : Math.max(given?.[cell.id] ?? usual, rounds + 1);
      return secondsPerRound * roundsInAll;
    });
    return Math.min(0.999, sum(all.map(({ rounds, secondsPerRound }) => rounds * secondsPerRound)) / sum(expected));
  }

  #of(id: string): CellWork {
    const work = this.#cells.get(id);
    if (work === undefined) throw new Error(`This experiment has no cell ${id}.`);
    return work;
  }
}

/** About how long one load takes, seconds. */
export function expectedSeconds(experiment: LoadExperiment, cell: Cell, load: LoadExperiment["loads"][number]): number {
  const sessions = sessionsOf(load.flow, load.arm, cell);
  const pages = sessions.flatMap((session) => session.pages);
  const files = pages.flatMap(({ document, subresources }) => [document, ...subresources]);
  const restsSeconds = sum([...sessions, ...pages].map(({ pauseAfterMs = 0 }) => pauseAfterMs)) / 1000;
  const bytes = sum(files.map((path) => Number(/\/image\/(\d+)$/.exec(path)?.[1] ?? 0)));
  const loadsSeconds = OVERHEAD_SECONDS + bytes / expectedRateBps(cell.network);
  return Math.min(loadsSeconds + restsSeconds, experiment.timeoutMs / 1000);
}

/** Whether one load may keep this machine's cores or its path so busy that another beside it would be measured too. */
export function isHeavy(cell: Cell): boolean {
  const HEAVY_BPS = 4_000_000;
  return cell.isAlone ?? expectedRateBps(cell.network) > HEAVY_BPS;
}

/**
 * About what a path carries for one connection: its rate, or what loss leaves a loss-driven sender (Mathis, Semke,
 * Mahdavi, Ott 1997: MSS / RTT * sqrt(3/2) / sqrt(p)), bytes per second. For planning only.
 */
function expectedRateBps({ rateMbps, delayMs, lossRatio }: Cell["network"]): number {
  const rateBps = (rateMbps * 1e6) / 8;
  const rttS = (2 * delayMs + 1) / 1000;
  return lossRatio === 0 ? rateBps : Math.min(rateBps, ((PACKET_BYTES / rttS) * Math.sqrt(1.5)) / Math.sqrt(lossRatio));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
