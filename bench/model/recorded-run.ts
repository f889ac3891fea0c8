import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { csvFormatRow, csvParse, csvParseRows } from "d3-dsv";
import { UserError } from "../../base/user-error.ts";
import { readRecord, type RowOf, type RowSchema } from "./row-schema.ts";

export const STARTS_FILE = "starts.json";

/** What `fidelity` found on a machine: up to which rate the emulated path is what it is asked to be. */
export interface KnownFidelity {
  /** ISO 8601, the day. */
  readonly date: string;
  readonly limitMbps: number;
}

/** One start of a run: a run that was interrupted has several, and its rows may come of other versions than its report. */
export interface Start {
  /** ISO 8601. */
  readonly at: string;
  /** How many slow cells were measured at a time. */
  readonly lanes: number;
  readonly rowsBefore: number;
  readonly machine: Machine;
  /** What was known of the emulated path when it began. */
  readonly fidelity?: KnownFidelity;
  /** Versions of tools that this experiment alone uses; null where one is not installed. */
  readonly tools?: Readonly<Record<string, string | null>>;
}

export function readStarts(folder: string): Start[] {
  const file = join(folder, STARTS_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Start[]) : [];
}

/**
 * The rows of a run that somebody else may be making just now: reads, and changes nothing.
 *
 * @throws UserError where there is no run in the folder, or rows of another kind
 */
export function rowsIn<Schema extends RowSchema>(folder: string, schema: Schema, name = "rows.csv"): RowOf<Schema>[] {
  const file = join(folder, name);
  if (!existsSync(file))
    throw new UserError(
      `${folder} holds no run: there is no ${name}. With --out an experiment makes it (npm run bench -- list).`,
    );
  return parseRows(wholeLines(readFileSync(file, "utf8")), file, schema);
}

/** A row ends with a line feed; no field holds one. What follows the last is half a row. */
export function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

/**
 * No rows where not even a header is whole. Columns that the schema does not have are passed over: recorded runs keep theirs.
 *
 * @throws UserError naming the first line that is no row
 */
export function parseRows<Schema extends RowSchema>(whole: string, file: string, schema: Schema): RowOf<Schema>[] {
  if (whole === "") return [];
  const widths = csvParseRows(whole).map(({ length }) => length);
  const records = csvParse(whole);
  const rows = records.map((record) => readRecord(record, schema));
  const isBad = (line: number): boolean => widths[line] !== widths[0] || (line > 0 && rows[line - 1] === undefined);
  const isWhole = Object.keys(schema).every((name) => records.columns.includes(name));
  const bad = isWhole ? widths.findIndex((_, line) => isBad(line)) : 0;
  if (bad >= 0)
    throw new UserError(`${file}: line ${bad + 1} is no row of this experiment. Give --fresh to begin anew.`);
  return rows.filter((row) => row !== undefined);
}

export function headerOf(schema: RowSchema): string {
  return `${csvFormatRow(Object.keys(schema))}\n`;
}

/** What a figure depends on beside what is measured: the stack, its versions, the machine. */
export interface Machine {
  readonly kernel: string;
  readonly arch: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly go: string;
  readonly quicGo: string;
  /** Unknown in runs that were made before there was one. */
  readonly quiche?: string;
  readonly k6: string;
  readonly workerd: string;
  readonly node: string;
  /** The commit of this repository, with "+" where files differ from it; unknown outside a checkout. */
  readonly commit: string;
}
