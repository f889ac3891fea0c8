import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { LoadRow } from "../../model/load-row.ts";
import type { Lab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import type { Progress } from "../../../base/progress.ts";
import type { RowFile } from "../run-folder.ts";
import { runBatch } from "./batch.ts";
import { SampleBook } from "./sample-book.ts";
import type { WindowPoint } from "./windows.ts";
import { expectedSeconds, isHeavy, type Load, Work } from "./schedule.ts";

export interface RunnerOptions {
  readonly experiment: LoadExperiment;
  readonly lab: Lab;
  readonly rows: RowFile<LoadRow>;
  /** Undefined where nothing is traced. */
  readonly windows: RowFile<WindowPoint> | undefined;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** A batch is about this long: short enough that lanes share a cell's rounds, long enough that k6's start is little. */
const BATCH_SECONDS = 15;

/**
 * Makes every load that the experiment asks for and that has no row yet. Cells that loss keeps slow come first and share
 * the machine, as many at a time as there are lanes; those that fill the path have it alone. What is the whole machine's
 * is set between groups of cells.
 *
 * @throws UserError where a load cannot be made, or the disk is full; rows so far are kept
 */
export async function runCells(options: RunnerOptions): Promise<void> {
  const { experiment, lab, rows, windows, seed, signal, progress } = options;
  const samples = new SampleBook();
  lab.onSample((sample) => samples.add(sample));
  const work = new Work(experiment, rows.rows, seed, lab.lanes.length);

  const onRow = (row: LoadRow, points: readonly WindowPoint[]): void => {
    for (const point of points) windows?.append(point);
    rows.append(row);
    work.add(row);
    progress.show(work.share(), `${rows.rows.length} rows, now ${row.cell}`);
  };
  const shared = { experiment, seed, folder: lab.folder, samples, signal, onRow };
  const inWork = new Set<string>();
  const take = (cells: readonly Cell[]): { cell: Cell; loads: Load[] } | undefined => {
    for (const cell of cells) {
      const free = work.next(cell).filter(({ id }) => !inWork.has(id));
      if (free.length > 0) return { cell, loads: firstTurns(experiment, cell, free) };
    }
    return undefined;
  };
  let batchEnded = Promise.withResolvers<void>();
  const workIn = async (lane: Lane, cells: readonly Cell[]): Promise<void> => {
    while (!signal.aborted) {
      const batch = take(cells);
      if (batch === undefined) {
        if (inWork.size === 0) return;
        // What another lane is at may show that more is needed.
        await batchEnded.promise;
        continue;
      }
      for (const { id } of batch.loads) inWork.add(id);
      try {
        await runBatch(lane, batch.cell, batch.loads, shared);
      } finally {
        for (const { id } of batch.loads) inWork.delete(id);
        batchEnded.resolve();
        batchEnded = Promise.withResolvers();
      }
    }
  };
  for (const cells of Map.groupBy(experiment.cells, ({ tcp }) => JSON.stringify(tcp?.cubic ?? {})).values()) {
    if (signal.aborted) return;
    lab.cubic?.set(cells[0]?.tcp?.cubic ?? {});
    const [heavy, light] = [cells.filter((cell) => isHeavy(cell)), cells.filter((cell) => !isHeavy(cell))];
    await Promise.all(lab.lanes.map((lane) => workIn(lane, light)));
    await Promise.all(lab.lanes.slice(0, 1).map((lane) => workIn(lane, heavy)));
  }
}

/** Whole turns of about a batch's length; where the path varies one load, which meets it from a moment of its own. */
function firstTurns(experiment: LoadExperiment, cell: Cell, loads: readonly Load[]): Load[] {
  if (cell.network.profileRepeatMs !== undefined) return loads.slice(0, 1);
  let seconds = 0;
  const end = loads.findIndex((load, i) => {
    const isNewTurn = i > 0 && loads[i - 1]?.turn !== load.turn;
    if (isNewTurn && seconds >= BATCH_SECONDS) return true;
    seconds += expectedSeconds(experiment, cell, load);
    return false;
  });
  return loads.slice(0, end === -1 ? undefined : end);
}
