import { cut, printable } from "./printable.ts";

/** What a terminal shows without breaking lines. */
export const WIDTH = 100;
const GAP = "  ";
/** A column gives way to others down to this. */
const NARROWEST = 8;

/**
 * Rows in aligned columns, at most WIDTH wide: where they are wider, the widest column is cut. An empty cell is "-".
 * Columns of numbers are aligned on the right.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => headings.map((_, i) => printable(row[i] ?? "") || "-"));
  const columns = headings.map((heading, i) => [heading, ...cells.map((row) => row[i] ?? "-")]);
  const widths = fitted(columns.map((column) => Math.max(...column.map(length))));
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

/** A list of names and what belongs to them, without headings. Values are not cut: they are what was asked for. */
export function nameList(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => length(name)));
  return rows.map(([name, value]) => `${name.padEnd(width)}${GAP}${printable(value) || "-"}`.trimEnd()).join("\n");
}

function fitted(widths: number[]): number[] {
  const free = WIDTH - GAP.length * (widths.length - 1);
  const fits = [...widths];
  while (fits.reduce((sum, width) => sum + width, 0) > free) {
    const widest = fits.indexOf(Math.max(...fits));
    if ((fits[widest] ?? 0) <= NARROWEST) break;
    fits[widest] = (fits[widest] ?? 0) - 1;
  }
  return fits;
}

function length(text: string): number {
  return Array.from(text).length;
}

function isNumber(cell: string): boolean {
  return /^[\d,.]+$/.test(cell);
}
