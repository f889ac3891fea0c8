import { markdownTable } from "./table.ts";

/** A table whose first column names its rows and whose others hold figures. */
export function figuresTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return markdownTable(
    titles.map((title, i) => ({ title, align: i === 0 ? "left" : "right" })),
    rows,
  ).trimEnd();
}
