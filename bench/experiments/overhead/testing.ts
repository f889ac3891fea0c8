import { OVERHEAD_ROW, type OverheadRow } from "./row.ts";

/** A row for tests: everything unknown but what is given. */
export function exampleOverheadRow(given: Partial<OverheadRow>): OverheadRow {
  const filled = Object.fromEntries(
    Object.entries(OVERHEAD_ROW).map(([name, read]) => [name, read("") === "" ? "" : 1]),
  );
  return {
    ...filled,
    id: `${given.loop}/${given.size}/${given.arm}/${given.round}`,
    dropped: 0,
    failures: 0,
    ...given,
  } as OverheadRow;
}
