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
import { csvFormatRow } from "d3-dsv";
import { UserError } from "../../base/user-error.ts";
import { lockFolder } from "../../infra/workerd/lock.ts";
import { fieldsOf, type RowOf, type RowSchema } from "../model/row-schema.ts";
import { headerOf, parseRows, wholeLines } from "../model/recorded-run.ts";

/** What a run was asked for: a folder holds rows of one such question. */
export type Asked = Readonly<Record<string, unknown>>;

/** A run's folder: what was asked (run.json) and the rows so far (rows.csv). */
export interface RunFolder<Row> {
  readonly path: string;
  readonly rows: readonly Row[];
  /** Appends a row; once it returns, the row is in the file. @throws UserError where the disk does not take it */
  append(row: Row): void;
  write(name: string, text: string): void;
  close(): void;
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
  makeFolder(path);
  const unlock = lockFolder(path, "give --out for another folder");
  try {
    return open(path, asked, schema, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

function open<Schema extends RowSchema>(
  path: string,
  asked: Asked | undefined,
  schema: Schema,
  unlock: () => void,
): RunFolder<RowOf<Schema>> {
  const file = join(path, "rows.csv");
  if (asked !== undefined) ask(path, asked);
  else if (!existsSync(file)) throw new UserError(`${path} holds no run: there is no rows.csv.`);
  const kept = existsSync(file) ? readRows(file, schema) : undefined;
  if (kept === undefined) writeIn(path, "rows.csv", headerOf(schema));
  const rows = kept ?? [];
  const descriptor = openSync(file, "a");
  let goodBytes = fstatSync(descriptor).size;
  let failure: UserError | undefined;
  return {
    path,
    rows,
    append: (row) => {
      if (failure !== undefined) throw failure;
      const line = `${csvFormatRow(fieldsOf(row, schema))}\n`;
      try {
        appendFileSync(descriptor, line);
      } catch (error) {
        failure = new UserError(`${file} cannot be written: ${(error as Error).message}. The rows so far are kept.`);
        // Half a line in the middle of the file would make all of it unreadable.
        ftruncateSync(descriptor, goodBytes);
        throw failure;
      }
      goodBytes += Buffer.byteLength(line);
      rows.push(row);
    },
    write: (name, text) => writeIn(path, name, text),
    close: () => {
      closeSync(descriptor);
      unlock();
    },
  };
}

function ask(path: string, asked: Asked): void {
  const question = `${JSON.stringify(asked, undefined, 2)}\n`;
  const file = join(path, "run.json");
  if (!existsSync(file)) writeIn(path, "run.json", question);
  else if (comparable(readFileSync(file, "utf8")) !== comparable(question))
    throw new UserError(
      `${path} holds a run with other options, which run.json there names. Give --fresh to begin anew, or --out for another folder.`,
    );
}

/** The order in which cells are measured is no part of a question. A file that is no JSON holds another question. */
function comparable(question: string): string {
  try {
    const { cells, ...rest } = JSON.parse(question) as Asked;
    return JSON.stringify([rest, Array.isArray(cells) ? cells.map((cell) => JSON.stringify(cell)).toSorted() : cells]);
  } catch {
    return question;
  }
}

/** Removes a run, and nothing else: `--out . --fresh` must not empty somebody's folder. */
function removeRun(path: string): void {
  if (!existsSync(path)) return;
  if (!existsSync(join(path, "run.json")) && readdirSync(path).length > 0)
    throw new UserError(`${path} holds no run, but other files: --fresh removes only what a run has made.`);
  rmSync(path, { recursive: true, force: true });
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new UserError(`${path} cannot be written: ${(error as Error).message}.`);
  }
}

function writeIn(path: string, name: string, text: string): void {
  try {
    writeFileSync(join(path, name), text);
  } catch (error) {
    throw new UserError(`${join(path, name)} cannot be written: ${(error as Error).message}.`);
  }
}

/** Reads the rows of a file, and cuts off half a last one. Undefined where not even a header is whole. */
function readRows<Schema extends RowSchema>(file: string, schema: Schema): RowOf<Schema>[] | undefined {
  const text = readFileSync(file, "utf8");
  const whole = wholeLines(text);
  const rows = parseRows(whole, file, schema);
  if (rows !== undefined && whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  return rows;
}
