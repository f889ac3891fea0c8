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
import { csvFormatRow, csvParse, csvParseRows } from "d3-dsv";
import { UserError } from "../../infra/setup/programs.ts";

/** The columns of a row, in order: `text`, or `number`, which may be null (an empty field). */
export type Columns<Row> = Readonly<Record<keyof Row & string, "text" | "number">>;

/** A run's folder: what was asked (run.json) and the rows so far (rows.csv). */
export interface RowFolder<Row> {
  readonly path: string;
  readonly rows: readonly Row[];
  /** Appends a row; once it returns, the row is in the file. @throws UserError where the disk does not take it */
  append(row: Row): void;
  write(name: string, text: string): void;
  close(): void;
}

/**
 * Opens a run's folder, or makes it: as bench/run's, for rows of any kind. What a killed run left of a last line is cut
 * off.
 *
 * @throws UserError where the folder holds a run of another question, or rows of another kind
 */
export function openRowFolder<Row extends object>(
  path: string,
  asked: object,
  columns: Columns<Row>,
  fresh: boolean,
): RowFolder<Row> {
  if (fresh) rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  const question = `${JSON.stringify(asked, undefined, 2)}\n`;
  const runFile = join(path, "run.json");
  if (!existsSync(runFile)) writeFileSync(runFile, question);
  else if (readFileSync(runFile, "utf8") !== question)
    throw new UserError(
      `${path} holds a run with other options, which run.json there names. Give --fresh to begin anew, or --out for another folder.`,
    );
  const file = join(path, "rows.csv");
  const header = `${csvFormatRow(Object.keys(columns))}\n`;
  const kept = existsSync(file) ? readRows(file, header, columns) : undefined;
  const rows = kept ?? [];
  if (kept === undefined) writeFileSync(file, header);
  const descriptor = openSync(file, "a");
  return {
    path,
    rows,
    append: (row) => {
      try {
        appendFileSync(descriptor, `${csvFormatRow(fieldsOf(row, columns))}\n`);
      } catch (error) {
        throw new UserError(`${file} cannot be written: ${(error as Error).message}. The rows so far are kept.`);
      }
      rows.push(row);
    },
    write: (name, text) => writeFileSync(join(path, name), text),
    close: () => closeSync(descriptor),
  };
}

/** The rows of a file; undefined where it lacks even its first line. */
function readRows<Row extends object>(file: string, header: string, columns: Columns<Row>): Row[] | undefined {
  const text = readFileSync(file, "utf8");
  // A row ends with a line feed; no field holds one. What follows the last is half a row.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole === "") return undefined;
  const widths = csvParseRows(whole).map(({ length }) => length);
  const bad = whole.startsWith(header) ? widths.findIndex((width) => width !== widths[0]) : 0;
  if (bad >= 0)
    throw new UserError(`${file}: line ${bad + 1} is no row of this experiment. Give --fresh to begin anew.`);
  if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  return csvParse(whole).map(
    (record) =>
      Object.fromEntries(
        Object.entries(columns).map(([name, kind]) => {
          const field = record[name] ?? "";
          return [name, kind === "text" ? field : field === "" ? null : Number(field)];
        }),
      ) as Row,
  );
}

function fieldsOf<Row extends object>(row: Row, columns: Columns<Row>): string[] {
  return (Object.keys(columns) as (keyof Row & string)[]).map((name) => {
    const value = row[name];
    return value === null ? "" : String(value);
  });
}
