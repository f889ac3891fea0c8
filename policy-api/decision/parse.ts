import { nearestName } from "./nearest.ts";

/** The largest RTT and rate that an input may have: an hour, and 100 Tbit/s. Above them, a meter or a clock is broken. */
export const MAX = { rttMs: 3_600_000, deliveryRateBps: 1.25e13 } as const;

/** How many faults are worth showing. With so many, unknown fields are not looked at any more. */
export const FAULTS_MAX = 100;

/** One thing wrong with an input. */
export interface Fault {
  /** JSON pointer to the value (RFC 6901); the empty string is the whole input. */
  readonly pointer: string;
  readonly message: string;
  /** The value itself fits its schema, but does not fit another value. A JSON Schema cannot say that. */
  readonly relation?: true;
}

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: readonly Fault[] };

/** What a reader accepts, as JSON Schema (2020-12, as in OpenAPI 3.1). */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Reads one value. On a fault it adds to `faults`, and its result must not be used. */
export interface Reader<T> {
  (value: unknown, pointer: string, faults: Fault[]): T;
  /** Made from the same bounds as the reader, for the API's OpenAPI document. Absent if that does not show it. */
  readonly schema?: JsonSchema | undefined;
}

/** What a reader reads. */
export type Read<R> = R extends Reader<infer T> ? T : never;

/** A field of an object that may be left out, and its value in that case. */
export interface OptionalField<T> {
  readonly reader: Reader<T>;
  readonly absent: () => T | undefined;
}

type Field<T> = Reader<T> | OptionalField<T>;
type Fields = Readonly<Record<string, Field<unknown>>>;
type ReadField<F> = F extends OptionalField<infer T> ? T : Read<F>;
interface Leavable {
  readonly absent: () => undefined;
}
/** What an object of such fields holds. */
export type ReadObject<F> = { readonly [K in keyof F as F[K] extends Leavable ? never : K]: ReadField<F[K]> } & {
  readonly [K in keyof F as F[K] extends Leavable ? K : never]?: ReadField<F[K]> | undefined;
};

// The fault is noted, so nobody uses this value. It lets readers compose without wrapping their results.
function fail(pointer: string, message: string, faults: Fault[]): never {
  faults.push({ pointer, message });
  return undefined as never;
}

/** A reader with the schema of what it accepts. */
export function described<T>(reader: Reader<T>, schema: JsonSchema | undefined): Reader<T> {
  return Object.assign((value: unknown, pointer: string, faults: Fault[]) => reader(value, pointer, faults), {
    schema,
  });
}

/** A reader that also checks how fields fit together. They are checked only if the fields themselves could be read. */
export function fitting<T>(
  reader: Reader<T>,
  check: (value: T, fault: (place: string, message: string) => void) => void,
): Reader<T> {
  return described((value, pointer, faults) => {
    const before = faults.length;
    const read = reader(value, pointer, faults);
    if (faults.length === before)
      check(read, (place, message) => void faults.push({ pointer: pointer + place, message, relation: true }));
    return read;
  }, reader.schema);
}

/** Runs a reader on a whole input. Returns the value, or its faults. Never throws on data. */
export function parse<T>(reader: Reader<T>, input: unknown): Parsed<T> {
  const faults: Fault[] = [];
  const value = reader(input, "", faults);
  return faults.length === 0 ? { ok: true, value } : { ok: false, faults };
}

export function number(min: number, max: number): Reader<number> {
  return described(
    (value, pointer, faults) =>
      typeof value === "number" && value >= min && value <= max
        ? value
        : fail(pointer, `must be a number from ${min} to ${max}`, faults),
    { type: "number", minimum: min, maximum: max },
  );
}

/** Any number that is not below 0. */
export const figure: Reader<number> = number(0, Number.MAX_VALUE);

export function integer(min: number, max: number): Reader<number> {
  return described(
    (value, pointer, faults) =>
      Number.isInteger(value) && (value as number) >= min && (value as number) <= max
        ? (value as number)
        : fail(pointer, `must be a whole number from ${min} to ${max}`, faults),
    { type: "integer", minimum: min, maximum: max },
  );
}

export function boolean(): Reader<boolean> {
  return described(
    (value, pointer, faults) => (typeof value === "boolean" ? value : fail(pointer, "must be true or false", faults)),
    { type: "boolean" },
  );
}

/** Counts code points as characters, as JSON Schema does. */
export function text(maxLength: number, pattern?: RegExp, what = "text"): Reader<string> {
  return described(
    (value, pointer, faults) =>
      typeof value === "string" &&
      value.length > 0 &&
      (value.length <= maxLength || Array.from(value).length <= maxLength) &&
      (pattern === undefined || pattern.test(value))
        ? value
        : fail(pointer, `must be ${what} of 1 to ${maxLength} characters`, faults),
    { type: "string", minLength: 1, maxLength, ...(pattern === undefined ? {} : { pattern: pattern.source }) },
  );
}

export function oneOf<const T extends string | number>(...allowed: readonly T[]): Reader<T> {
  return described(
    (value, pointer, faults) =>
      allowed.includes(value as T)
        ? (value as T)
        : fail(pointer, `must be one of ${allowed.map((item) => JSON.stringify(item)).join(", ")}`, faults),
    { enum: allowed },
  );
}

export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return described((value, pointer, faults) => (value === null ? null : reader(value, pointer, faults)), {
    oneOf: [reader.schema ?? {}, { type: "null" }],
  });
}

export function list<T>(reader: Reader<T>, minLength: number, maxLength: number): Reader<readonly T[]> {
  return described(
    (value, pointer, faults) => {
      if (!Array.isArray(value) || value.length < minLength || value.length > maxLength)
        return fail(pointer, `must be a list of ${minLength} to ${maxLength} items`, faults);
      return value.map((item, i) => reader(item, `${pointer}/${i}`, faults));
    },
    { type: "array", items: reader.schema ?? {}, minItems: minLength, maxItems: maxLength },
  );
}

export function optional<T>(reader: Reader<T>): OptionalField<T> & Leavable {
  return { reader, absent: () => undefined };
}

export function withDefault<T>(reader: Reader<T>, value: NoInfer<T>): OptionalField<T> & { readonly absent: () => T } {
  return { reader, absent: () => value };
}

/** An object with exactly these fields. Unknown and missing fields are faults. */
export function object<F extends Fields>(fields: F): Reader<ReadObject<F>>;
export function object<T>(fields: { readonly [K in keyof T]-?: Field<Exclude<T[K], undefined>> }): Reader<T>;
export function object(fields: Fields): Reader<unknown> {
  const known = Object.keys(fields);
  return described((value, pointer, faults) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return fail(pointer, "must be an object", faults);
    const given = value as Record<string, unknown>;
    for (const name of Object.keys(given)) {
      // To find the name that was meant takes time, and an input can have many thousand names.
      if (faults.length >= FAULTS_MAX) break;
      if (!known.includes(name)) fail(child(pointer, name), unknownName(name, known), faults);
    }
    const result: Record<string, unknown> = {};
    for (const name of known) {
      const field = fields[name] as Field<unknown>;
      const present = Object.hasOwn(given, name) && given[name] !== undefined;
      if (typeof field === "function") {
        if (present) result[name] = field(given[name], child(pointer, name), faults);
        else fail(child(pointer, name), "is missing", faults);
      } else {
        const read = present ? field.reader(given[name], child(pointer, name), faults) : field.absent();
        if (read !== undefined) result[name] = read;
      }
    }
    return result;
  }, objectSchema(fields));
}

/** The message for an unknown field. */
export function unknownName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? `is not known here; known: ${known.join(", ")}` : `is not known here: ${nearest}?`;
}

function objectSchema(fields: Fields): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const reader = typeof field === "function" ? field : field.reader;
    if (typeof field === "function") required.push(name);
    const value = typeof field === "function" ? undefined : field.absent();
    properties[name] = { ...reader.schema, ...(value === undefined ? {} : { default: value }) };
  }
  return { type: "object", properties, required, additionalProperties: false };
}

function child(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
