/** How one column of a rows.csv is read back; undefined where the text is no such value. */
export type Column<Value> = (text: string) => Value | undefined;

/** The columns of a kind of row, in order: its type, its file's header and its parser come from this one definition. */
export type RowSchema = Readonly<Record<string, Column<unknown>>>;

export type RowOf<Schema extends RowSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends Column<infer Value> ? Value : never;
};

/** Text as it is; of a known set of words where a type is given. */
export function string<Word extends string = string>(): Column<Word> {
  return (field) => field as Word;
}

export const bool: Column<boolean> = (field) => (field === "true" ? true : field === "false" ? false : undefined);

export const float: Column<number> = (field) =>
  field !== "" && Number.isFinite(Number(field)) ? Number(field) : undefined;

/** Null where it is not known; an empty field. */
export const optionalFloat: Column<number | null> = (field) => (field === "" ? null : float(field));

/** A number as it is read back from a file, which keeps six digits: microseconds of a time. */
export function writtenNumber(value: number): number {
  return Number(value.toFixed(6));
}

/** The fields of a row as text, in the columns' order; null, NaN and what the row has not are empty. */
export function fieldsOf(row: object, columns: readonly string[]): string[] {
  return columns.map((name) => {
    const value = (row as Readonly<Record<string, string | number | boolean | null>>)[name] ?? null;
    if (value === null || Number.isNaN(value)) return "";
    return typeof value === "number" ? String(writtenNumber(value)) : String(value);
  });
}

/** A row read back; undefined where the record is not one: of other columns, or with a field that cannot be. */
export function readRecord<Schema extends RowSchema>(
  record: Readonly<Record<string, string | undefined>>,
  schema: Schema,
): RowOf<Schema> | undefined {
  const row: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(schema)) {
    const field = record[name];
    const value = field === undefined ? undefined : read(field);
    if (value === undefined) return undefined;
    row[name] = value;
  }
  return row as RowOf<Schema>;
}

/** A row that nobody has filled, but for what is given. */
export function blankRow<Schema extends RowSchema>(schema: Schema, given: Partial<RowOf<Schema>>): RowOf<Schema> {
  // Null and NaN are values: only undefined is none.
  const blankOf = (read: Column<unknown>): unknown => ["", "0", "false"].map(read).find((value) => value !== undefined);
  const blank = Object.entries(schema).map(([name, read]) => [name, blankOf(read)]);
  return { ...Object.fromEntries(blank), ...given } as RowOf<Schema>;
}
