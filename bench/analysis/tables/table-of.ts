import { figuresTable } from "./figures-table.ts";

/** A column: its title, and what it says of a row. */
export type Column<Row> = readonly [title: string, text: (row: Row) => string];

/** A table of figures, its rows and columns as data. The first column names the rows. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return figuresTable(
    columns.map(([title]) => title),
    rows.map((row) => columns.map(([, text]) => text(row))),
  );
}
