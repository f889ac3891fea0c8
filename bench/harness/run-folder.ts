import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { csvFormatRow, csvParseRows } from "d3-dsv";
import { UserError } from "../../base/user-error.ts";
import { lockFolder } from "../../infra/workerd/lock.ts";
import { fieldsOf, readRecord, type RowOf, type RowSchema } from "../model/row-schema.ts";
import { headerOf, parseRows, readStarts, type Start, STARTS_FILE, wholeLines } from "../model/recorded-run.ts";

/** What a run was asked for: a folder holds rows of one such question. */
export type Asked = Readonly<Record<string, unknown>>;

/** A file of rows that grows. */
export interface RowFile<Row> {
  readonly rows: readonly Row[];
  /** Appends a row; once it returns, the row is in the file. @throws UserError where the disk does not take it */
  append(row: Row): void;
  close(): void;
}

/** A run's folder: what was asked (run.json) and the rows so far (rows.csv). */
export interface RunFolder<Row> extends RowFile<Row> {
  readonly path: string;
}

/**
 * Opens a run's folder, or makes it. What a killed run left of a last line is cut off.
 *
 * @param asked undefined: whatever the run that is there was asked for
 * @throws UserError where the folder holds a run of another question, or rows of another kind
 */
export function openRunFolder<Schema extends RowSchema>(
  path: string,
  asked: Asked | undefined,
  schema: Schema,
  fresh: boolean,
): RunFolder<RowOf<Schema>> {
  if (fresh) removeRun(path);
  orSay(path, () => mkdirSync(path, { recursive: true }));
  const unlock = lockFolder(path, "give --out for another folder");
  try {
    const file = join(path, "rows.csv");
    if (asked !== undefined) ask(path, asked);
    else if (!existsSync(file)) throw new UserError(`${path} holds no run: there is no rows.csv.`);
    const rows = openRows(file, schema);
    const close = (): void => {
      rows.close();
      unlock();
    };
    return { ...rows, path, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** @throws UserError where the file holds rows of another kind, or cannot be written */
export function openRows<Schema extends RowSchema>(file: string, schema: Schema): RowFile<RowOf<Schema>> {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const whole = wholeLines(text);
  const rows = parseRows(whole, file, schema);
  if (whole === "") orSay(file, () => writeFileSync(file, headerOf(schema)));
  else if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  const columns = whole === "" ? Object.keys(schema) : (csvParseRows(whole)[0] ?? []);
  const descriptor = openSync(file, "a");
  return {
    rows,
    append: (row) => {
      const { size } = fstatSync(descriptor);
      const fields = fieldsOf(row, columns);
      const kept = readRecord(Object.fromEntries(columns.map((name, i) => [name, fields[i]])), schema);
      if (kept === undefined) throw new Error(`${file} would not be read again with this row: ${fields.join(",")}`);
      try {
        appendFileSync(descriptor, `${csvFormatRow(fields)}\n`);
      } catch (error) {
        // Half a line in the middle of the file would make all of it unreadable.
        ftruncateSync(descriptor, size);
        throw new UserError(`${file} cannot be written: ${(error as Error).message}. The rows so far are kept.`);
      }
      // As it is read again: a report of the run that made it is the same as one of its file.
      rows.push(kept);
    },
    close: () => closeSync(descriptor),
  };
}

/** @throws UserError where the folder cannot be written */
export function addStart(folder: string, start: Start): void {
  writeIn(folder, STARTS_FILE, jsonText([...readStarts(folder), start]));
}

/** @throws UserError where the folder cannot be written */
export function writeIn(folder: string, name: string, text: string): void {
  const file = join(folder, name);
  orSay(file, () => writeFileSync(file, text));
}

export function jsonText(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function ask(path: string, asked: Asked): void {
  const file = join(path, "run.json");
  if (!existsSync(file)) writeIn(path, "run.json", jsonText(asked));
  else if (readFileSync(file, "utf8") !== jsonText(asked))
    throw new UserError(
      `${path} holds a run with other options, which run.json there names. Give --fresh to begin anew, or --out for another folder.`,
    );
}

/** Removes a run, and nothing else: `--out . --fresh` must not empty somebody's folder. */
function removeRun(path: string): void {
  if (!existsSync(path)) return;
  if (!existsSync(join(path, "run.json")) && readdirSync(path).length > 0)
    throw new UserError(`${path} holds no run, but other files: --fresh removes only what a run has made.`);
  rmSync(path, { recursive: true, force: true });
}

function orSay(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new UserError(`${path} cannot be written: ${(error as Error).message}.`);
  }
}
