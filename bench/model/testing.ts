import { LOAD_ROW, type LoadRow } from "./load-row.ts";
import { blankRow } from "./row-schema.ts";

/** A row for tests: everything unknown but what is given. */
export function exampleRow(given: Partial<LoadRow>): LoadRow {
  return blankRow(LOAD_ROW, { outcome: "ok", loadMs: 1, ...given });
}
