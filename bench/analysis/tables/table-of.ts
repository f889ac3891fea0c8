/** A column: its title, and what it says of a row. */
export type Column<Row> = readonly [title: string, text: (row: Row) => string];

/** A table of figures, its rows and columns as data. The first column names the rows. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return figuresTable(
    columns.map(([title]) => title),
    rows.map((row) => columns.map(([, text]) => text(row))),
  );
}

export interface TableColumn {
  readonly title: string;
  /** Figures to the right; left by default. */
  readonly align?: "left" | "right";
}

/** A Markdown table (a column may be its title alone), padded as Prettier pads it, so that a document that holds it stays formatted. */
export function markdownTable(
  columns: readonly (string | TableColumn)[],
  rows: readonly (readonly string[])[],
): string {
  const cells = [columns.map(titleOf), ...rows].map((row) =>
    columns.map((_, index) => (row[index] ?? "").replaceAll("|", String.raw`\|`).replaceAll(/\s+/g, " ")),
  );
  const widths = columns.map((_, index) => Math.max(3, ...cells.map((row) => (row[index] ?? "").length)));
  const line = (row: readonly string[]): string => `| ${row.join(" | ")} |`;
  const padded = cells.map((row) =>
    line(
      row.map((cell, index) =>
        isFigures(columns[index]) ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      ),
    ),
  );
  const rule = line(
    columns.map((column, index) => {
      const width = widths[index] ?? 3;
      return isFigures(column) ? `${"-".repeat(width - 1)}:` : "-".repeat(width);
    }),
  );
  return `${[padded[0], rule, ...padded.slice(1)].join("\n")}\n`;
}

function titleOf(column: string | TableColumn): string {
  return typeof column === "string" ? column : column.title;
}

function isFigures(column: string | TableColumn | undefined): boolean {
  return typeof column === "object" && column.align === "right";
}

/** A table whose first column names its rows and whose others hold figures. */
export function figuresTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return markdownTable(
    titles.map((title, i) => ({ title, align: i === 0 ? "left" : "right" })),
    rows,
  ).trimEnd();
}
