import type { Run } from "./experiment.ts";

interface Named {
  readonly id: string;
}

/** The share of the measurements that have a row of their own. */
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
  { folder, signal, progress }: Pick<Run<unknown, Row>, "folder" | "signal" | "progress">,
  measure: (measurement: Measurement) => Promise<readonly Row[] | undefined>,
): Promise<void> {
  for (const measurement of missing(all, folder.rows)) {
    progress.show(shareMade(all, folder.rows), measurement.id);
    const rows = signal.aborted ? undefined : await measure(measurement);
    if (rows === undefined) return;
    for (const row of rows) folder.append(row);
  }
}

function missing<Measurement extends Named>(all: readonly Measurement[], rows: readonly Named[]): Measurement[] {
  const made = new Set(rows.map(({ id }) => id));
  return all.filter(({ id }) => !made.has(id));
}
