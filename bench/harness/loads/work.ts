import type { Cell } from "../../model/cell.ts";
import { type LoadExperiment, loadsOf, loadsPerRound } from "../../model/load-experiment.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { sessionsOf } from "../../model/sessions.ts";
import { type Load, nextLoads } from "./schedule.ts";

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
  const files = sessionsOf(load.flow, load.arm, cell)
    .flatMap(({ pages }) => pages)
    .flatMap(({ document, subresources }) => [document, ...subresources]);
  const bytes = sum(files.map((path) => Number(/\/image\/(\d+)$/.exec(path)?.[1] ?? 0)));
  return Math.min(OVERHEAD_SECONDS + bytes / expectedRateBps(cell.network), experiment.timeoutMs / 1000);
}

/** Whether one load may keep this machine's cores or its path so busy that another beside it would be measured too. */
export function isHeavy(cell: Cell): boolean {
  const HEAVY_BPS = 4_000_000;
  return cell.isAlone === true || expectedRateBps(cell.network) > HEAVY_BPS;
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
