import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonChange, jsonDiff } from "./json-diff.ts";
import { adaptivePolicy } from "./testing.ts";

describe("jsonDiff", () => {
  const cases: [string, unknown, unknown, JsonChange[]][] = [
    ["nothing", { a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }, []],
    ["a field added", {}, { a: 1 }, [{ pointer: "/a", kind: "added", after: 1 }]],
    ["a field removed", { a: 1 }, {}, [{ pointer: "/a", kind: "removed", before: 1 }]],
    ["a field changed", { a: 1 }, { a: "1" }, [{ pointer: "/a", kind: "changed", before: 1, after: "1" }]],
    [
      "deep down, in the order of the first",
      { m: { x: 1, y: 1 }, n: 1 },
      { n: 2, m: { y: 2, x: 1, z: 3 } },
      [
        { pointer: "/m/y", kind: "changed", before: 1, after: 2 },
        { pointer: "/m/z", kind: "added", after: 3 },
        { pointer: "/n", kind: "changed", before: 1, after: 2 },
      ],
    ],
    [
      "a list of plain values is one value",
      { axis: [1, 2] },
      { axis: [1, 3, 4] },
      [{ pointer: "/axis", kind: "changed", before: [1, 2], after: [1, 3, 4] }],
    ],
    [
      "a list of objects is compared item by item",
      { rules: [{ mode: "observe" }, { mode: "fixed-h2" }] },
      { rules: [{ mode: "observe" }, { mode: "fixed-h3" }, { mode: "adaptive" }] },
      [
        { pointer: "/rules/1/mode", kind: "changed", before: "fixed-h2", after: "fixed-h3" },
        { pointer: "/rules/2", kind: "added", after: { mode: "adaptive" } },
      ],
    ],
    ["an item less", [{ a: 1 }, { a: 2 }], [{ a: 1 }], [{ pointer: "/1", kind: "removed", before: { a: 2 } }]],
    [
      "from a list of none to one of objects",
      { rules: [] },
      { rules: [{ a: 1 }] },
      [{ pointer: "/rules", kind: "changed", before: [], after: [{ a: 1 }] }],
    ],
    [
      "an object in the place of a list",
      { a: { 0: { b: 1 } } },
      { a: [{ b: 1 }] },
      [{ pointer: "/a", kind: "changed", before: { 0: { b: 1 } }, after: [{ b: 1 }] }],
    ],
    ["null is a value", { a: null }, { a: {} }, [{ pointer: "/a", kind: "changed", before: null, after: {} }]],
    ["the whole", 1, 2, [{ pointer: "", kind: "changed", before: 1, after: 2 }]],
    ["names are escaped", { "a/b~c": 1 }, {}, [{ pointer: "/a~1b~0c", kind: "removed", before: 1 }]],
    [
      "a name of the prototype is a name",
      {},
      JSON.parse('{"__proto__":1,"constructor":2}'),
      [
        { pointer: "/__proto__", kind: "added", after: 1 },
        { pointer: "/constructor", kind: "added", after: 2 },
      ],
    ],
  ];
  it.each(cases)("%s", (_name, before, after, changes) => {
    expect(jsonDiff(before, after)).toEqual(changes);
  });

  it("between two policies", () => {
    const before = adaptivePolicy({ rules: [{ pathPrefix: "/live/", mode: "observe" }] });
    const after = adaptivePolicy({ margin: { enter: 0.1, leave: -0.005 }, source: "s" });
    expect(jsonDiff(before, after).map(({ pointer, kind }) => `${kind} ${pointer}`)).toEqual([
      "changed /margin/enter",
      "changed /rules",
      "added /source",
    ]);
  });
});

// For any two values.

// From few names and values, so that two of them have much in common.
const { anyJson } = fc.letrec((tie) => ({
  anyJson: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, 0, 1, "a"),
    fc.array(tie("anyJson"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "/", "~1"), tie("anyJson"), { noNullPrototype: true }),
  ),
}));

it("there is no difference between a value and itself", () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      expect(jsonDiff(value, structuredClone(value))).toEqual([]);
    }),
  );
});

it("forth and back are each other's mirror", () => {
  fc.assert(
    fc.property(anyJson, anyJson, (one, other) => {
      const mirrored = jsonDiff(other, one).map(({ pointer, kind, before, after }) => ({
        pointer,
        kind: kind === "added" ? "removed" : kind === "removed" ? "added" : kind,
        ...(after === undefined ? {} : { before: after }),
        ...(before === undefined ? {} : { after: before }),
      }));
      const sorted = (changes: readonly { pointer: string }[]) =>
        changes.toSorted((a, b) => (a.pointer < b.pointer ? -1 : 1));
      expect(sorted(jsonDiff(one, other))).toEqual(sorted(mirrored as JsonChange[]));
    }),
  );
});

it("what is told is enough to make the one of the other", () => {
  fc.assert(
    fc.property(anyJson, anyJson, (one, other) => {
      expect(applied(one, jsonDiff(one, other))).toEqual(other);
    }),
  );
});

function applied(value: unknown, changes: readonly JsonChange[]): unknown {
  let result: unknown = structuredClone(value);
  // From the end, so that the numbers of earlier items of a list stay valid.
  for (const { pointer, kind, after } of changes.filter(({ kind: is }) => is !== "added").toReversed()) {
    if (pointer === "") return after;
    result = at(result, pointer, kind === "removed" ? undefined : { after });
  }
  for (const { pointer, after } of changes.filter(({ kind }) => kind === "added"))
    result = at(result, pointer, { after });
  return result;
}

function at(value: unknown, pointer: string, to: { after: unknown } | undefined): unknown {
  const names = pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  let parent = value as Record<string, unknown>;
  for (const name of names.slice(0, -1)) parent = Object.getOwnPropertyDescriptor(parent, name)?.value;
  const last = names.at(-1) ?? "";
  if (to === undefined) {
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  } else Object.defineProperty(parent, last, { value: to.after, enumerable: true, configurable: true, writable: true });
  return value;
}
