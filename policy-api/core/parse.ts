/** One thing wrong with an input. */
export interface Fault {
  /** JSON pointer to the value (RFC 6901); the empty string is the whole input. */
  readonly pointer: string;
  readonly message: string;
}

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: readonly Fault[] };

/** Reads one value; on a fault it adds to `faults` and what it returns must not be used. */
export type Reader<T> = (value: unknown, pointer: string, faults: Fault[]) => T;

/** A field of an object that may be left out, with what then stands in its place. */
export interface OptionalField<T> {
  readonly reader: Reader<T>;
  readonly absent: () => T | undefined;
}

type Field<T> = Reader<T> | OptionalField<T>;

// A fault is noted, so the caller never uses this value; it only lets readers compose without a wrapper each.
function fail(pointer: string, message: string, faults: Fault[]): never {
  faults.push({ pointer, message });
  return undefined as never;
}

/** Runs a reader over a whole input and returns the value or every fault. Never throws on data. */
export function parse<T>(reader: Reader<T>, input: unknown): Parsed<T> {
  const faults: Fault[] = [];
  const value = reader(input, "", faults);
  return faults.length === 0 ? { ok: true, value } : { ok: false, faults };
}

export function number(min: number, max: number): Reader<number> {
  return (value, pointer, faults) =>
    typeof value === "number" && value >= min && value <= max
      ? value
      : fail(pointer, `must be a number from ${min} to ${max}`, faults);
}

export function integer(min: number, max: number): Reader<number> {
  return (value, pointer, faults) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : fail(pointer, `must be a whole number from ${min} to ${max}`, faults);
}

export function boolean(): Reader<boolean> {
  return (value, pointer, faults) =>
    typeof value === "boolean" ? value : fail(pointer, "must be true or false", faults);
}

export function text(maxLength: number, pattern?: RegExp, what = "text"): Reader<string> {
  return (value, pointer, faults) =>
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= maxLength &&
    (pattern === undefined || pattern.test(value))
      ? value
      : fail(pointer, `must be ${what} of 1 to ${maxLength} characters`, faults);
}

export function oneOf<const T extends string | number>(...allowed: readonly T[]): Reader<T> {
  return (value, pointer, faults) =>
    allowed.includes(value as T)
      ? (value as T)
      : fail(pointer, `must be one of ${allowed.map((item) => JSON.stringify(item)).join(", ")}`, faults);
}

export function list<T>(reader: Reader<T>, minLength: number, maxLength: number): Reader<readonly T[]> {
  return (value, pointer, faults) => {
    if (!Array.isArray(value) || value.length < minLength || value.length > maxLength)
      return fail(pointer, `must be a list of ${minLength} to ${maxLength} items`, faults);
    return value.map((item, i) => reader(item, `${pointer}/${i}`, faults));
  };
}

export function optional<T>(reader: Reader<T>): OptionalField<T> {
  return { reader, absent: () => undefined };
}

export function withDefault<T>(reader: Reader<T>, value: T): OptionalField<T> {
  return { reader, absent: () => value };
}

/** An object with exactly these fields; unknown and missing ones are faults. */
export function object<T>(fields: { readonly [K in keyof T]-?: Field<Exclude<T[K], undefined>> }): Reader<T> {
  const known = Object.keys(fields);
  return (value, pointer, faults) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return fail(pointer, "must be an object", faults);
    const given = value as Record<string, unknown>;
    for (const name of Object.keys(given))
      if (!known.includes(name)) fail(child(pointer, name), `is not known here; known: ${known.join(", ")}`, faults);
    const result: Record<string, unknown> = {};
    for (const name of known) {
      const field = fields[name as keyof T] as Field<unknown>;
      const present = Object.hasOwn(given, name) && given[name] !== undefined;
      if (typeof field === "function") {
        if (present) result[name] = field(given[name], child(pointer, name), faults);
        else fail(child(pointer, name), "is missing", faults);
      } else {
        const read = present ? field.reader(given[name], child(pointer, name), faults) : field.absent();
        if (read !== undefined) result[name] = read;
      }
    }
    return result as T;
  };
}

function child(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
