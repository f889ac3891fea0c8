import { expect, it } from "vitest";
import type { Subject } from "./subjects.ts";
import { costsOf, growsNowhere, isWithinBound } from "./findings.ts";

const subject = (name: Subject["name"]): Subject => ({ name, about: "", calls: 10, run: () => 0 });
const SUBJECTS = [subject("decide"), subject("plain look-up")];

function costs(decideNs: readonly number[], lookUpNs: readonly number[], bytes = 0) {
  const timings = [
    ...decideNs.map((nsPerCall, round) => ({ round, subject: "decide" as const, nsPerCall })),
    ...lookUpNs.map((nsPerCall, round) => ({ round, subject: "plain look-up" as const, nsPerCall })),
  ];
  return costsOf(
    SUBJECTS,
    timings,
    new Map([
      ["decide", bytes],
      ["plain look-up", 0],
    ]),
  );
}

it("takes medians, ranges, and ratios within a round", () => {
  const [decide, lookUp] = costs([1_000, 3_000, 1_200], [10, 100, 12]);
  expect(decide).toMatchObject({
    nsPerCall: { median: 1_200, min: 1_000, max: 3_000 },
    ratio: { median: 100, min: 30, max: 100 },
    heapBytesPerCall: 0,
    state: null,
  });
  expect(lookUp?.ratio).toEqual({ median: 1, min: 1, max: 1 });
});

it.each([
  [[1_999, 1_999, 9_000], true],
  [[2_001, 2_001, 1_000], false],
])("decide at %j ns: within the bound %s", (ns, within) => {
  expect(isWithinBound(costs(ns, [1, 1, 1]))).toBe(within);
});

it.each([
  [0.3, true],
  [-4, true],
  [16, false],
])("%d bytes a call: nothing grows %s", (bytes, nothing) => {
  expect(growsNowhere(costs([1], [1], bytes))).toBe(nothing);
});
