import fc from "fast-check";
import { expect, it } from "vitest";
import { digitsBetween } from "./digits.ts";

it.each([
  [1, 10, ["[1-9]"]],
  [10, 100, ["[1-9][0-9]{1}"]],
  [7, 8, ["7"]],
  [95, 1_203, ["9[5-9]", "[1-9][0-9]{2}", "1[0-1][0-9]{2}", "120[0-2]"]],
  [30_000, Infinity, ["[3-9][0-9]{4}", "[1-9][0-9]{5,}"]],
  [5, 5, []],
])("from %d to before %d", (from, to, patterns) => {
  expect(digitsBetween(from, to)).toEqual(patterns);
});

it("matches the numbers from one to before the other, and no others", () => {
  const number = fc.oneof(fc.integer({ min: 1, max: 1_300 }), fc.integer({ min: 1, max: 70_000_000 }));
  fc.assert(
    fc.property(number, fc.oneof(number, fc.constant(Infinity)), fc.array(number), (one, other, more) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const pattern = new RegExp(`^(${digitsBetween(from, to).join("|") || "(?!)"})$`);
      const near = [from, to].filter(Number.isFinite).flatMap((at) => [at - 1, at, at + 1]);
      for (const n of [...near, ...more]) expect(pattern.test(String(n)), `${n}`).toBe(n >= from && n < to);
    }),
    { numRuns: 500 },
  );
});
