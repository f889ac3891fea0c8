import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { Lab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { runBatch } from "./batch.ts";
import { expectedSeconds, isHeavy } from "./expected.ts";
import type { Progress } from "../progress.ts";
import type { LoadRow } from "../../model/load-row.ts";
import type { RunFolder } from "../run-folder.ts";
import { SampleBook } from "./sample-book.ts";
import { type Load, nextLoads } from "./schedule.ts";
import { appendWindows } from "./windows.ts";
import { WorkDone } from "./work-done.ts";

export interface RunnerOptions {
  readonly experiment: LoadExperiment;
  readonly lab: Lab;
  readonly folder: RunFolder<LoadRow>;
  readonly seed: number;
  readonly switching: "wait" | "background";
  /** Loads that are not held against an arm when it comes to giving it up. */
  readonly forgiven: ReadonlySet<string>;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** A batch is about this long: short enough that lanes share a cell's rounds, long enough that k6's start is little. */
const BATCH_SECONDS = 15;

/**
 * Makes every load that the experiment asks for and the folder does not have yet. Cells that loss keeps slow come first
 * and share the machine, as many at a time as there are lanes; those that fill the path have it alone. What is the whole
 * machine's is set between groups of cells.
 *
 * @throws UserError where a load cannot be made, or the disk is full; rows so far are kept
 */
export async function runCells(options: RunnerOptions): Promise<void> {
  const { experiment, lab, folder, seed, signal, progress } = options;
  const samples = new SampleBook();
  lab.onSample((sample) => samples.add(sample));
  const rowsOf = new Map<string, LoadRow[]>(experiment.cells.map(({ id }) => [id, []]));
  for (const row of folder.rows) rowsOf.get(row.cell)?.push(row);
  const work = new WorkDone(experiment, lab.lanes.length);
  // Deciding takes bootstraps, on cores that others are measured on: once for each new row, and never again for what is done.
  const known = new Map<string, { rows: number; loads: Load[] }>();
  const needed = (cell: Cell): Load[] => {
    const rows = rowsOf.get(cell.id) ?? [];
    const last = known.get(cell.id);
    if (last !== undefined && (last.rows === rows.length || last.loads.length === 0)) return last.loads;
    const loads = nextLoads(experiment, cell, rows, seed, options.forgiven);
    known.set(cell.id, { rows: rows.length, loads });
    work.update(cell, rows.length, loads.length === 0);
    return loads;
  };
  for (const cell of experiment.cells) needed(cell);

  const inWork = new Set<string>();
  const take = (cells: readonly Cell[]): { cell: Cell; loads: Load[] } | undefined => {
    for (const cell of cells) {
      const loads = firstTurns(
        experiment,
        cell,
        needed(cell).filter(({ id }) => !inWork.has(id)),
      );
      if (loads.length > 0) return { cell, loads };
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
        await runBatch({
          ...batch,
          experiment,
          lane,
          seed,
          switching: options.switching,
          folder: lab.folder,
          samples,
          signal,
          onWindows: (points) => appendWindows(folder.path, points),
          onRow: (row) => {
            folder.append(row);
            const rows = rowsOf.get(row.cell) ?? [];
            rows.push(row);
            work.update(batch.cell, rows.length, false);
            progress.show(work.share(), `${folder.rows.length} rows, now ${row.cell}`);
          },
        });
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
