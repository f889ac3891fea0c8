/** The columns of a run's rows.csv, in order, and how a field is read back. */
export type Columns<Row> = Readonly<Record<keyof Row & string, Kind>>;

type Kind = "text" | "number" | "boolean";

/** The fields of a row as text, in the columns' order; null is empty. Numbers keep six digits: microseconds of a time. */
export function fieldsOf<Row extends object>(row: Row, columns: Columns<Row>): string[] {
  return namesOf(columns).map((name) => {
    const value = row[name];
    if (value === null) return "";
    return typeof value === "number" ? String(Number(value.toFixed(6))) : String(value);
  });
}

/** A row read back; undefined where the record is not one: of other columns, or with a field that cannot be. */
export function readRecord<Row extends object>(
  record: Readonly<Record<string, string | undefined>>,
  columns: Columns<Row>,
): Row | undefined {
  const row: Partial<Record<keyof Row & string, string | number | boolean | null>> = {};
  for (const name of namesOf(columns)) {
    const value = readField(record[name], columns[name]);
    if (value === undefined) return undefined;
    row[name] = value;
  }
  return row as unknown as Row;
}

export function namesOf<Row extends object>(columns: Columns<Row>): (keyof Row & string)[] {
  return Object.keys(columns) as (keyof Row & string)[];
}

function readField(text: string | undefined, kind: Kind): string | number | boolean | null | undefined {
  if (text === undefined || kind === "text") return text;
  if (kind === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (text === "") return null;
  return Number.isFinite(Number(text)) ? Number(text) : undefined;
}
