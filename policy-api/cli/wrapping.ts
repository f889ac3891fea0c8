import wrapAnsi from "wrap-ansi";
import type { Io, Output } from "./io.ts";

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
export function longestWord(text: string): number {
  return Math.max(...unbroken(text).split(" ").map(lengthOf));
}

/** In characters, of which some are wide. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

function unbroken(text: string): string {
  return text.replaceAll(BEFORE_UNIT, NO_BREAK);
}
