/** How one column of a rows.csv is written and read back. */
export interface Column<Value> {
  /** Undefined where the text is no such value. */
  readonly read: (text: string) => Value | undefined;
  /** What a row has of it that nobody has filled. */
  readonly blank: Value;
}

/** The columns of a kind of row, in order: its type, its file's header and its parser come from this one definition. */
export type RowSchema = Readonly<Record<string, Column<unknown>>>;

export type RowOf<Schema extends RowSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends Column<infer Value> ? Value : never;
};

/** Text as it is; of a known set of words where a type is given. */
export function string<Word extends string = string>(): Column<Word> {
  return { read: (field) => field as Word, blank: "" as Word };
}

export const bool: Column<boolean> = {
  read: (field) => (field === "true" ? true : field === "false" ? false : undefined),
  blank: false,
};

export const float: Column<number> = { read: finite, blank: 0 };

/** Null where it is not known; an empty field. */
export const optionalFloat: Column<number | null> = {
  read: (field) => (field === "" ? null : finite(field)),
  blank: null,
};

/** NaN where it is not known; an empty field. */
export const floatOrNaN: Column<number> = {
  read: (field) => (field === "" ? Number.NaN : finite(field)),
  blank: Number.NaN,
};

function finite(field: string): number | undefined {
  return field !== "" && Number.isFinite(Number(field)) ? Number(field) : undefined;
}

/** A number as it is read back from a file, which keeps six digits: microseconds of a time. */
export function writtenNumber(value: number): number {
  return Number(value.toFixed(6));
}

/** The fields of a row as text, in the columns' order; null and NaN are empty. */
export function fieldsOf(row: object, schema: RowSchema): string[] {
  return Object.keys(schema).map((name) => {
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
  for (const [name, { read }] of Object.entries(schema)) {
    const field = record[name];
    const value = field === undefined ? undefined : read(field);
    if (value === undefined) return undefined;
    row[name] = value;
  }
  return row as RowOf<Schema>;
}

/** A row that nobody has filled, but for what is given. */
export function blankRow<Schema extends RowSchema>(schema: Schema, given: Partial<RowOf<Schema>>): RowOf<Schema> {
  const blank = Object.fromEntries(Object.entries(schema).map(([name, column]) => [name, column.blank]));
  return { ...blank, ...given } as RowOf<Schema>;
}
