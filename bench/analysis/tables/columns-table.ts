import { figuresTable } from "./figures-table.ts";

/** What stands above a column, and what it says of a row. */
export type ColumnOf<Row> = readonly [title: string, cell: (row: Row) => string];

/** A table of figures with a line for each row; the first column names them. */
export function columnsTable<Row>(rows: readonly Row[], columns: readonly ColumnOf<Row>[]): string {
  return figuresTable(
    columns.map(([title]) => title),
    rows.map((row) => columns.map(([, cell]) => cell(row))),
  );
}
