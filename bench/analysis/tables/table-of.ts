/** A column: its title, and what it says of a row. */
export type Column<Row> = readonly [title: string, text: (row: Row) => string];

/** A table of figures, its rows and columns as data. The first column names the rows. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return figuresTable(
    columns.map(([title]) => title),
    rows.map((row) => columns.map(([, text]) => text(row))),
  );
}

/**
 * A Markdown table whose first column names its rows and whose others hold figures, to the right. Padded as Prettier pads it, so
 * that a document that holds it stays formatted.
 */
export function figuresTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [titles, ...rows].map((row) =>
    titles.map((_, index) => (row[index] ?? "").replaceAll("|", String.raw`\|`).replaceAll(/\s+/g, " ")),
  );
  const widths = titles.map((_, index) => Math.max(3, ...cells.map((row) => row[index]?.length ?? 0)));
  const [head, ...lines] = cells.map((row) =>
    row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))),
  );
  const rule = widths.map((width, index) => (index === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [head, rule, ...lines].map((row) => `| ${row?.join(" | ")} |`).join("\n");
}
