import { expect, it } from "vitest";
import { tableOf, whileGone } from "./table.ts";

it("a row for each fault, with the slowest return to deciding", () => {
  const count = { requests: 12, right: 10, wrong: 0, aborted: 1, refused: 0, own: 1, repeated: 0 };
  const lines = tableOf([
    { name: "edge-killed", ...count, decidingMs: [20, 12_345], beyondMs: [1, 2, 300] },
    { name: "a", ...count, decidingMs: [], beyondMs: [] },
  ]).split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(
    /^fault +requests +right +wrong +aborted +refused +502-504 +repeated +deciding again +p50 +p99 +max$/,
  );
  expect(lines[1]).toMatch(/^edge-killed +12 +10 +0 +1 +0 +1 +0 +12\.3 s +2\.0 ms +300 ms +300 ms$/);
  expect(lines[2]).toMatch(/^a +12 +10 +0 +1 +0 +1 +0 +- +- +- +-$/);
});

it("a sentence about the time in which workerd was known to be gone", () => {
  expect(whileGone([])).toBeUndefined();
  expect(whileGone([1, 2, 300])).toBe(
    "While workerd was known to be gone: 3 right answers, 2.0 ms (p50) and 300 ms (p99) beyond the origin's time.",
  );
});
