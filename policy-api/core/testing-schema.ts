// Checks values by JSON Schema, for tests that compare a schema with its reader. Nothing that is deployed imports it.
import type { JsonSchema } from "./parse.ts";

/** Schemas by name: `#/components/schemas/Name`. */
export type Definitions = Readonly<Record<string, JsonSchema>>;

/**
 * The faults of a JSON value by a schema. Knows the keywords of JSON Schema 2020-12 that this project's schemas use.
 *
 * @throws Error on any other keyword, which would go unchecked.
 */
export function schemaFaults(
  schema: JsonSchema,
  value: unknown,
  definitions: Definitions = {},
  pointer = "",
): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, given]) => {
    const check = KEYWORDS[keyword];
    if (check === undefined) throw new Error(`a schema with the keyword ${keyword}, which the tests do not know`);
    const inner = (part: unknown, item: unknown, place = ""): readonly string[] =>
      schemaFaults(part as JsonSchema, item, definitions, pointer + place);
    const fault = check(given, value, inner, schema, definitions);
    return typeof fault === "boolean" ? (fault ? [] : [`${pointer}: ${keyword}`]) : fault;
  });
}

type Check = (
  given: unknown,
  value: unknown,
  inner: (part: unknown, item: unknown, place?: string) => readonly string[],
  schema: JsonSchema,
  definitions: Definitions,
) => boolean | readonly string[];

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  array: (value) => Array.isArray(value),
  object: (value) => isRecord(value),
};

const annotation: Check = () => true;
const bound =
  (holds: (value: number, limit: number) => boolean): Check =>
  (limit, value) =>
    typeof value !== "number" || holds(value, limit as number);
const length =
  (holds: (value: number, limit: number) => boolean): Check =>
  (limit, value) =>
    typeof value !== "string" || holds(Array.from(value).length, limit as number);
const size =
  (holds: (value: number, limit: number) => boolean): Check =>
  (limit, value) =>
    !Array.isArray(value) || holds(value.length, limit as number);
const atLeast = (value: number, limit: number): boolean => value >= limit;
const atMost = (value: number, limit: number): boolean => value <= limit;

const KEYWORDS: Readonly<Record<string, Check>> = {
  description: annotation,
  example: annotation,
  default: annotation,
  format: annotation,
  type: (types, value) => [types].flat().some((type) => TYPES[String(type)]?.(value) ?? false),
  enum: (allowed, value) => (allowed as readonly unknown[]).includes(value),
  const: (only, value) => only === value,
  minimum: bound(atLeast),
  maximum: bound(atMost),
  minLength: length(atLeast),
  maxLength: length(atMost),
  minItems: size(atLeast),
  maxItems: size(atMost),
  pattern: (pattern, value) => typeof value !== "string" || new RegExp(String(pattern), "u").test(value),
  items: (items, value, inner) =>
    Array.isArray(value) ? value.flatMap((item, i) => inner(items, item, `/${i}`)) : true,
  required: (names, value) => !isRecord(value) || (names as string[]).every((name) => Object.hasOwn(value, name)),
  properties: (properties, value, inner) =>
    !isRecord(value) ||
    Object.entries(properties as Definitions).flatMap(([name, part]) =>
      Object.hasOwn(value, name) ? inner(part, value[name], `/${name}`) : [],
    ),
  additionalProperties: (rest, value, inner, { properties = {} }) =>
    !isRecord(value) ||
    Object.keys(value)
      .filter((name) => !Object.hasOwn(properties as object, name))
      .flatMap((name) =>
        rest === false ? [`${name} is additional`] : rest === true ? [] : inner(rest, value[name], `/${name}`),
      ),
  oneOf: (parts, value, inner) =>
    (parts as readonly JsonSchema[]).filter((part) => inner(part, value).length === 0).length === 1,
  anyOf: (parts, value, inner) => (parts as readonly JsonSchema[]).some((part) => inner(part, value).length === 0),
  not: (part, value, inner) => inner(part, value).length > 0,
  allOf: (parts, value, inner) => (parts as readonly JsonSchema[]).flatMap((part) => inner(part, value)),
  $ref: (ref, value, inner, _schema, definitions) => {
    const named = definitions[String(ref).replace("#/components/schemas/", "")];
    return named === undefined ? [`${String(ref)} leads nowhere`] : inner(named, value);
  },
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
