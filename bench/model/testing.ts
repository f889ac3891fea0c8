import { csvFormatRow } from "d3-dsv";
import { LOAD_ROW, type LoadRow } from "./load-row.ts";
import { headerOf } from "./recorded-run.ts";
import { blankRow, fieldsOf, type RowSchema } from "./row-schema.ts";

/** A row for tests: everything unknown but what is given. */
export function exampleRow(given: Partial<LoadRow>): LoadRow {
  return blankRow(LOAD_ROW, { outcome: "ok", loadMs: 1, ...given });
}

/** All of a rows.csv: its header, and a line for each row. */
export function csvOf(rows: readonly object[], schema: RowSchema): string {
  return headerOf(schema) + rows.map((row) => `${csvFormatRow(fieldsOf(row, Object.keys(schema)))}\n`).join("");
}
