import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";

const PROTOCOLS = ["HTTP/1.1", "HTTP/2", "HTTP/3"] as const;
const ASKERS = ["worker", "edge"] as const;

/** A line of the tables of headers: what may differ from what the origin was sent, or sent. */
export interface Exception {
  readonly key: string;
  readonly what: string;
  readonly over: readonly (typeof PROTOCOLS)[number][];
  /** Who asks the origin. */
  readonly by: readonly (typeof ASKERS)[number][];
  readonly cause: string;
}

const PAGE = join(ROOT, "docs/transparency.md");

/** What stands under a heading of docs/transparency.md. */
export function transparencySection(heading: string): string {
  const sections = readFileSync(PAGE, "utf8").split("\n## ");
  return (sections.find((one) => one.startsWith(`${heading}\n`)) ?? "").slice(heading.length + 1);
}

/** The cells of the table under a heading, without its first two lines. */
export function transparencyTable(heading: string): string[][] {
  return transparencySection(heading)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The exceptions on the page, by their keys. A line that is not of the tables' form throws. */
export function transparencyExceptions(side: "requests" | "responses"): ReadonlyMap<string, Exception> {
  const exceptions = new Map<string, Exception>();
  for (const [name = "", what = "", over = "", by = "", cause = ""] of transparencyTable(`Headers of ${side}`)) {
    const key = /^`([a-z0-9-]+)`$/.exec(name)?.[1];
    if (key === undefined || exceptions.has(key) || what === "" || cause === "")
      throw new Error(`docs/transparency.md: not a line of its tables, or twice: ${name}`);
    exceptions.set(key, { key, what, over: among(PROTOCOLS, over, "all"), by: among(ASKERS, by, "both"), cause });
  }
  return exceptions;
}

function among<Word extends string>(words: readonly Word[], cell: string, all: string): readonly Word[] {
  if (cell === all) return words;
  return cell.split(", ").map((one) => {
    const word = words.find((known) => known === one);
    if (word === undefined) throw new Error(`docs/transparency.md: ${cell} is not one of ${words.join(", ")}, ${all}`);
    return word;
  });
}
