import { COLUMNS, type LoadRow } from "./load-row.ts";

/** A row for tests: everything unknown but what is given. */
export function exampleRow(given: Partial<LoadRow>): LoadRow {
  const blank = Object.fromEntries(
    Object.entries(COLUMNS).map(([name, kind]) => [name, kind === "text" ? "" : kind === "boolean" ? false : null]),
  );
  return { ...blank, outcome: "ok", round: 0, loadMs: 1, startedMs: 0, ...given } as LoadRow;
}
