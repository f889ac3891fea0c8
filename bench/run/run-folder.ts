import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { csvFormatRow, csvParse } from "d3-dsv";
import { UserError } from "../../infra/setup/programs.ts";
import { COLUMN_NAMES, type LoadRow, readRow, rowFields } from "./row.ts";

const ROWS = "rows.csv";
const RUN = "run.json";

/** What a run was asked for: a folder holds rows of one such question. */
export type Asked = Readonly<Record<string, unknown>>;

/** A run's folder: what was asked (run.json) and the rows so far (rows.csv). */
export interface RunFolder {
  readonly path: string;
  readonly rows: LoadRow[];
  /** Appends a row; once it returns, the row is in the file. @throws UserError where the disk does not take it */
  append(row: LoadRow): void;
  write(name: string, text: string): void;
  close(): void;
}

/**
 * Opens a run's folder, or makes it. What a killed run left of a last line is cut off.
 *
 * @throws UserError where the folder holds a run of another question
 */
export function openRunFolder(path: string, asked: Asked, fresh: boolean): RunFolder {
  if (fresh) rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  const question = `${JSON.stringify(asked, undefined, 2)}\n`;
  const runFile = join(path, RUN);
  if (existsSync(runFile)) {
    if (readFileSync(runFile, "utf8") !== question)
      throw new UserError(
        `${path} holds a run with other options, which run.json there names. Give --fresh to begin anew, or --out for another folder.`,
      );
  } else writeFileSync(runFile, question);
  const rowsFile = join(path, ROWS);
  const rows = existsSync(rowsFile) ? readRows(rowsFile) : [];
  if (!existsSync(rowsFile) || rows === undefined) writeFileSync(rowsFile, `${csvFormatRow([...COLUMN_NAMES])}\n`);
  const descriptor = openSync(rowsFile, "a");
  const kept = rows ?? [];
  return {
    path,
    rows: kept,
    append: (row) => {
      try {
        appendFileSync(descriptor, `${csvFormatRow(rowFields(row))}\n`);
      } catch (error) {
        throw new UserError(`${rowsFile} cannot be written: ${(error as Error).message}. The rows so far are kept.`);
      }
      kept.push(row);
    },
    write: (name, text) => writeFileSync(join(path, name), text),
    close: () => closeSync(descriptor),
  };
}

/** The rows of a file; undefined where it lacks even its first line. */
export function readRows(file: string): LoadRow[] | undefined {
  const text = readFileSync(file, "utf8");
  // A row ends with a line feed; no field holds one. What follows the last is half a row.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole === "") return undefined;
  if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  const rows = csvParse(whole).map((record) => readRow(record));
  const bad = rows.findIndex((row) => row === undefined);
  if (bad >= 0)
    throw new UserError(`${file}: line ${bad + 2} is no row of this experiment. Give --fresh to begin anew.`);
  return rows.filter((row) => row !== undefined);
}
