import { describe, expect, it } from "vitest";
import { etagOf, isNoneMatchHit, parseIfMatch } from "./policies.ts";

describe("If-Match", () => {
  it.each([
    [undefined, undefined],
    ["*", "*"],
    [" * ", "*"],
    ['"r5"', [5]],
    ['"r5", "r6"', [5, 6]],
    ['"r5","v6"', [5]],
    // Weak tags match nothing in a strong comparison.
    ['W/"r5"', []],
    ["r5", []],
    ["", []],
    ['"r-1"', []],
    ['"r5', []],
    ['"r99999999999999999999"', []],
  ])("%j asks for %j", (header, revisions) => {
    expect(parseIfMatch(header, "r")).toEqual(revisions);
  });

  it("an ETag comes back as what it numbered", () => {
    for (const number of [0, 1, 123_456]) expect(parseIfMatch(etagOf("r", number), "r")).toEqual([number]);
    expect(parseIfMatch(etagOf("v", 1), "r")).toEqual([]);
  });
});

it.each([
  [undefined, false],
  ["*", true],
  ['"r5"', true],
  ['W/"r5"', true],
  ['"r4", "r5"', true],
  ['"r4"', false],
  ["r5", false],
])("If-None-Match %j", (header, hit) => {
  expect(isNoneMatchHit(header, etagOf("r", 5))).toBe(hit);
});
