import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  boolean,
  described,
  type Fault,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  parse,
  type Reader,
  text,
  unknownName,
  withDefault,
} from "./parse.ts";

const isTold = ({ schema = {} }: Reader<unknown>, value: unknown): boolean =>
  new Validator(schema, "2020-12").validate(value).valid;
const faultsOf = (reader: Reader<unknown>, input: unknown): string[] => {
  const parsed = parse(reader, input);
  return parsed.ok ? [] : parsed.faults.map(({ pointer, message }) => `${pointer}: ${message}`);
};

describe("readers", () => {
  const cases: [string, Reader<unknown>, unknown, string[]][] = [
    ["a number", number(0, 5), 5, []],
    ["a number too large", number(0, 5), 5.1, [": must be a number from 0 to 5"]],
    ["no number", number(0, 5), "5", [": must be a number from 0 to 5"]],
    ["NaN", number(0, 5), Number.NaN, [": must be a number from 0 to 5"]],
    ["infinity", number(0, Number.MAX_VALUE), Number.POSITIVE_INFINITY, [expect.stringContaining("must be a number")]],
    ["a whole number", integer(1, 5), 1, []],
    ["half a one", integer(1, 5), 1.5, [": must be a whole number from 1 to 5"]],
    ["a whole number too small", integer(1, 5), 0, [": must be a whole number from 1 to 5"]],
    ["true", boolean(), true, []],
    ["not quite true", boolean(), 1, [": must be true or false"]],
    ["text", text(3), "abc", []],
    ["text of code points", text(3), "😀😀😀", []],
    ["text of too many", text(3), "😀😀😀😀", [": must be text of 1 to 3 characters"]],
    ["no text", text(3), "", [": must be text of 1 to 3 characters"]],
    ["text of another form", text(3, /^a/, "a word in a,"), "b", [": must be a word in a, of 1 to 3 characters"]],
    ["one of", oneOf<string | number>("a", 1), 1, []],
    ["none of", oneOf<string | number>("a", 1), "1", [': must be one of "a", 1']],
    ["null", nullable(number(0, 1)), null, []],
    ["not null", nullable(number(0, 1)), 2, [": must be a number from 0 to 1"]],
    ["a list", list(number(0, 1), 1, 2), [0, 1], []],
    ["a list too long", list(number(0, 1), 1, 2), [0, 1, 1], [": must be a list of 1 to 2 items"]],
    ["no list", list(number(0, 1), 1, 2), { length: 1 }, [": must be a list of 1 to 2 items"]],
    [
      "a list with faults",
      list(number(0, 1), 0, 3),
      [2, 0, "x"],
      ["/0: must be a number from 0 to 1", "/2: must be a number from 0 to 1"],
    ],
  ];
  it.each(cases)("%s", (_name, reader, input, expected) => {
    expect(faultsOf(reader, input)).toEqual(expected);
  });
});

describe("an object", () => {
  interface Given {
    readonly enter: number;
    readonly leave?: number;
    readonly share: number;
  }
  const reader = object<Given>({
    enter: number(0, 1),
    leave: optional(number(0, 1)),
    share: withDefault(number(0, 1), 0.5),
  });

  it("reads its fields, and puts in what may be left out", () => {
    expect(parse(reader, { enter: 1 })).toEqual({ ok: true, value: { enter: 1, share: 0.5 } });
    expect(parse(reader, { share: 1, leave: 0, enter: 1 })).toEqual({
      ok: true,
      value: { enter: 1, leave: 0, share: 1 },
    });
    expect(parse(reader, { enter: 1, leave: undefined })).toEqual({ ok: true, value: { enter: 1, share: 0.5 } });
  });

  it.each([
    [null, [": must be an object"]],
    [[], [": must be an object"]],
    [{}, ["/enter: is missing"]],
    [{ enter: undefined }, ["/enter: is missing"]],
    [{ enter: null }, ["/enter: must be a number from 0 to 1"]],
    [{ entr: 1, enter: 1 }, ["/entr: is not known here: enter?"]],
    [{ timeout: 1, enter: 1 }, ["/timeout: is not known here; known: enter, leave, share"]],
    [{ "a/b~c": 1, enter: 1 }, ["/a~1b~0c: is not known here; known: enter, leave, share"]],
    [
      { leave: 2, shre: 0 },
      ["/shre: is not known here: share?", "/enter: is missing", "/leave: must be a number from 0 to 1"],
    ],
  ])("%j", (input, expected) => {
    expect(faultsOf(reader, input)).toEqual(expected);
  });

  it("is as its schema says", () => {
    const figure = { type: "number", minimum: 0, maximum: 1 };
    expect(reader.schema).toEqual({
      type: "object",
      properties: { enter: figure, leave: figure, share: { ...figure, default: 0.5 } },
      required: ["enter"],
      additionalProperties: false,
    });
  });

  it("a schema is what a reader is described with, and no more", () => {
    const odd = described((value: unknown, pointer: string, faults: Fault[]) => {
      faults.push({ pointer, message: "is odd" });
      return value;
    }, undefined);
    expect(odd.schema).toBeUndefined();
    expect(faultsOf(list(odd, 1, 1), [1])).toEqual(["/0: is odd"]);
    expect(list(odd, 1, 1).schema).toEqual({ type: "array", items: {}, minItems: 1, maxItems: 1 });
  });
});

it("of an unknown name the nearest known one is told", () => {
  expect(unknownName("sahre", ["share", "enter"])).toBe("is not known here: share?");
  expect(unknownName("x", ["share", "enter"])).toBe("is not known here; known: share, enter");
});

// What must hold for any reader that is composed of these, and for any JSON value.

/** A reader, and values that are close to what it accepts. */
interface Made {
  readonly reader: Reader<unknown>;
  readonly near: fc.Arbitrary<unknown>;
}

const bounds = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.nat(20)).map(([min, more]) => [min, min + more] as const);
const sizes = fc.tuple(fc.nat(2), fc.nat(3)).map(([min, more]) => [min, min + more] as const);
const anyJson = fc.jsonValue({ maxDepth: 2 });

const { made } = fc.letrec<{ made: Made }>((tie) => ({
  made: fc.oneof(
    { maxDepth: 3 },
    bounds.map(([min, max]) => ({
      reader: number(min, max),
      near: fc.oneof(
        fc.constantFrom(min, max, min - 1, max + 1),
        fc.double({ min: min - 1, max: max + 1, noNaN: true }),
      ),
    })),
    bounds.map(([min, max]) => ({
      reader: integer(min, max),
      near: fc.oneof(fc.integer({ min: min - 1, max: max + 1 }), fc.constant(min + 0.5)),
    })),
    fc.constant({ reader: boolean(), near: fc.boolean() }),
    fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom(undefined, /^\//, /^[A-Z]+$/)).map(([max, pattern]) => ({
      reader: text(max, pattern),
      near: fc.oneof(fc.string({ unit: "grapheme", maxLength: max + 1 }), fc.stringMatching(/^[/A-Z][A-Z]{0,4}$/)),
    })),
    fc.uniqueArray(fc.constantFrom("a", "b", 1, 2), { minLength: 1 }).map((allowed) => ({
      reader: oneOf(...allowed),
      near: fc.constantFrom("a", "b", 1, 2),
    })),
    // No reader of null inside: oneOf would match null twice.
    tie("made")
      .filter(({ reader }) => !isTold(reader, null))
      .map(({ reader, near }) => ({ reader: nullable(reader), near: fc.option(near) })),
    fc.tuple(tie("made"), sizes).map(([{ reader, near }, [min, max]]) => ({
      reader: list(reader, min, max),
      near: fc.array(near, { minLength: Math.max(0, min - 1), maxLength: max + 1 }),
    })),
    fc.tuple(tie("made"), tie("made")).map(([one, other]) => ({
      reader: object<{ one: unknown; other?: unknown }>({ one: one.reader, other: optional(other.reader) }),
      near: fc.record({ one: one.near, other: other.near, more: fc.nat() }, { requiredKeys: [] }),
    })),
  ),
}));

it("a reader takes exactly what its schema says, and JSON keeps what it has read", () => {
  const taken = { true: 0, false: 0 };
  fc.assert(
    fc.property(
      made.chain((one) => fc.tuple(fc.constant(one), fc.oneof({ weight: 4, arbitrary: one.near }, anyJson))),
      ([{ reader }, value]) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        const parsed = parse(reader, json);
        expect(isTold(reader, json)).toBe(parsed.ok);
        if (parsed.ok) expect(parsed.value).toEqual(json);
        taken[`${parsed.ok}`]++;
      },
    ),
    { numRuns: 3_000 },
  );
  // There were inputs with either result.
  expect(Math.min(taken.true, taken.false)).toBeGreaterThan(600);
});
