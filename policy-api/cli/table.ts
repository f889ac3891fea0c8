import { cut, printable } from "./printable.ts";

/** The width of a line that a terminal does not break. */
export const WIDTH = 100;
const GAP = "  ";
/** Headings of columns that may be cut. */
const WORDS: ReadonlySet<string> = new Set(["note", "author", "who"]);
/** An empty cell is shown as "-". */
type Cell = string | number | null | undefined;
/** The least width of a column that is cut. */
const NARROWEST = 8;

/**
 * Rows in aligned columns, numbers to the right. If the rows are wider than WIDTH, columns of people's own words (notes,
 * authors) are cut, the widest first. Other columns are never cut.
 */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = rows.map((row) => headings.map((_, i) => printable(String(row[i] ?? "")) || "-"));
  const columns = headings.map((heading, i) => [heading, ...cells.map((row) => row[i] ?? "-")]);
  const widths = fitted(
    columns.map((column) => Math.max(...column.map(length))),
    headings.map((heading) => WORDS.has(heading)),
  );
  const right = columns.map(
    ([, ...column]) => column.some(isNumber) && column.every((cell) => cell === "-" || isNumber(cell)),
  );
  return [headings, ...cells]
    .map((row) =>
      row
        .map((cell, i) => {
          const width = widths[i] ?? 0;
          const text = cut(cell, width);
          const padding = " ".repeat(Math.max(0, width - length(text)));
          return right[i] === true ? padding + text : text + padding;
        })
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/**
 * A list of names with their values, without headings. Values are not cut. A name without a value is left out.
 */
export function nameList(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const width = Math.max(...given.map(([name]) => length(name)));
  return given.map(([name, value]) => `${name.padEnd(width)}${GAP}${printable(value) || "-"}`.trimEnd()).join("\n");
}

function fitted(widths: readonly number[], mayBeCut: readonly boolean[]): number[] {
  const free = WIDTH - GAP.length * (widths.length - 1);
  const fits = [...widths];
  while (fits.reduce((sum, width) => sum + width, 0) > free) {
    const widest = Math.max(...fits.filter((_, i) => mayBeCut[i] === true));
    if (widest <= NARROWEST) break;
    fits[fits.findIndex((width, i) => mayBeCut[i] === true && width === widest)] = widest - 1;
  }
  return fits;
}

function length(text: string): number {
  return Array.from(text).length;
}

function isNumber(cell: string): boolean {
  return /^[\d,.]+$/.test(cell);
}
