import type { Run } from "./experiment.ts";
import type { RunFolder } from "./run-folder.ts";

/** What is measured, or a row of it. */
export interface Named {
  readonly id: string;
  /** Of its last row, where it has several. */
  readonly lastId?: string;
}

/** What a run works with that makes rows. */
export interface Making<Row> extends Pick<Run<unknown, Row>, "signal"> {
  readonly folder: Pick<RunFolder<Row>, "rows" | "append">;
  readonly progress: Pick<Run<unknown, Row>["progress"], "show">;
}

/** The share of the measurements that have their last row. */
export function shareMade(all: readonly Named[], rows: readonly Named[]): number {
  return 1 - missing(all, rows).length / all.length;
}

/**
 * Makes the measurements that have no row, one after another.
 *
 * @param measure its rows, its own last; undefined where it was interrupted
 */
export async function makeMissing<Measurement extends Named, Row extends Named>(
  all: readonly Measurement[],
  { folder, signal, progress }: Making<Row>,
  measure: (measurement: Measurement) => Promise<readonly Row[] | undefined>,
): Promise<void> {
  for (const measurement of missing(all, folder.rows)) {
    progress.show(shareMade(all, folder.rows), measurement.id);
    const rows = signal.aborted ? undefined : await measure(measurement);
    if (rows === undefined) return;
    for (const row of rows) folder.append(row);
  }
}

/** Those without their last row: what was cut short is made again. */
export function missing<Measurement extends Named>(all: readonly Measurement[], rows: readonly Named[]): Measurement[] {
  const made = new Set(rows.map(({ id }) => id));
  return all.filter(({ id, lastId = id }) => !made.has(lastId));
}
