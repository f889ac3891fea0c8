import wrapAnsi from "wrap-ansi";
import type { Io, Output } from "./io.ts";

/**
 * Makes other people's text (notes, names, a server's answer) safe for a terminal. Control characters, which begin escape
 * sequences, and characters that turn the direction of writing become "?".
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    /\s/u.test(character) ? " " : "?",
  );
}

/** How wide a line may be: COLUMNS, or the terminal's width. What goes into a pipe or a file is not wrapped: a row is a line there. */
export function columnsOf({ env }: Pick<Io, "env">, output: Output): number {
  const given = Number(env["COLUMNS"]);
  return given > 0 ? given : output.columns || Number.POSITIVE_INFINITY;
}

/** Where the rest of a line begins that is too long: below the text of an item, below a value beside its name. */
const BEGINNING = /^ *(?:- |\S+(?: \S+)* {2,})?/;
const INDENT = /^ */;
/** A number stays with its unit. */
const BEFORE_UNIT = /(?<=\d) (?=(?:%|m?s|min|h|d|[kMG]B|Mbit\/s)(?![\w/]))/g;
const NO_BREAK = "\u00A0";

/** Wraps each line that is too long. Words stay whole, also those that are longer than a line. */
export function wrapped(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  return text
    .split("\n")
    .map((line) => {
      const [wide = ""] = BEGINNING.exec(line) ?? [];
      const [beginning = ""] = wide.length > columns / 2 ? (INDENT.exec(line) ?? []) : [wide];
      const rest = wrapAnsi(unbroken(line.slice(beginning.length)), columns - beginning.length);
      return `${beginning}${rest.replaceAll("\n", `\n${" ".repeat(beginning.length)}`)}`.trimEnd();
    })
    .join("\n")
    .replaceAll(NO_BREAK, " ");
}

/** The length of the longest word, which is not broken. */
function longestWord(text: string): number {
  return Math.max(...unbroken(text).split(" ").map(lengthOf));
}

/** In characters, of which some are wide. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

function unbroken(text: string): string {
  return text.replaceAll(BEFORE_UNIT, NO_BREAK);
}

const GAP = "  ";
/** Text is not wrapped into less than a quarter of its length, unless the column is this wide: one word a line is hard to read. */
const READABLE = 20;
/** An empty cell is shown as "-". */
type Cell = string | number | null | undefined;

/**
 * Rows in aligned columns, numbers to the right. If the rows are wider than a line, cells are wrapped, in the widest columns first. Where
 * that is not readable, each row is a list of names and values. Nothing is cut.
 */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[], columns: number): string {
  const cells = rows.map((row) => headings.map((_, i) => printable(String(row[i] ?? "")) || "-"));
  const byColumn = headings.map((heading, i) => [heading, ...cells.map((row) => row[i] ?? "-")]);
  const widths = fitted(byColumn, columns);
  if (widths === undefined)
    return cells.map((row) => nameList(Object.fromEntries(headings.map((name, i) => [name, row[i]])))).join("\n\n");
  const right = byColumn.map(
    ([, ...column]) => column.some(isNumber) && column.every((cell) => cell === "-" || isNumber(cell)),
  );
  return [headings, ...cells].map((row) => rowText(row, widths, right)).join("\n");
}

/** A row in as many lines as its longest cell has. */
function rowText(row: readonly string[], widths: readonly number[], right: readonly boolean[]): string {
  const inLines = row.map((cell, i) => wrapped(cell, widths[i] ?? 0).split("\n"));
  const height = Math.max(...inLines.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    inLines
      .map((lines, i) => {
        const text = lines[line] ?? "";
        const padding = " ".repeat(Math.max(0, (widths[i] ?? 0) - lengthOf(text)));
        return right[i] === true ? padding + text : text + padding;
      })
      .join(GAP)
      .trimEnd(),
  ).join("\n");
}

/**
 * A list of names with their values, without headings. A name without a value is left out.
 */
export function nameList(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const width = Math.max(...given.map(([name]) => lengthOf(name)));
  return given.map(([name, value]) => `${name.padEnd(width)}${GAP}${printable(value) || "-"}`.trimEnd()).join("\n");
}

/** How wide each column is. Undefined: no widths are readable. */
function fitted(byColumn: readonly (readonly string[])[], columns: number): readonly number[] | undefined {
  const free = columns - GAP.length * (byColumn.length - 1);
  const widths = byColumn.map((column) => Math.max(...column.map(lengthOf)));
  const least = byColumn.map((column, i) =>
    Math.max(...column.map(longestWord), Math.min(READABLE, (widths[i] ?? 0) / 4)),
  );
  while (widths.reduce((sum, width) => sum + width, 0) > free) {
    const widest = Math.max(...widths.filter((width, i) => width > (least[i] ?? 0)));
    const at = widths.findIndex((width, i) => width === widest && width > (least[i] ?? 0));
    if (at < 0) return undefined;
    widths[at] = widest - 1;
  }
  return widths;
}

function isNumber(cell: string): boolean {
  return /^[\d,.]+$/.test(cell);
}
