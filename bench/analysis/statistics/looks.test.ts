import { expect, it } from "vitest";
import { confidencePerLook, plannedLooks } from "./looks.ts";
import { normalQuantile } from "./normal.ts";

it.each([
  [10, 100, [10, 15, 23, 35, 53, 80, 100]],
  [10, 10, [10]],
  [10, 11, [11]],
  [30, 20, [20]],
  [20, 400, [20, 30, 45, 68, 102, 153, 230, 400]],
])("from %d to %d runs looks at %j", (min, cap, looks) => {
  expect(plannedLooks(min, cap)).toEqual(looks);
});

it("looks at equal steps where one is given", () => {
  expect(plannedLooks(10, 55, 20)).toEqual([10, 30, 50, 55]);
  expect(plannedLooks(10, 50, 20)).toEqual([10, 30, 50]);
});

// Pocock, "Group sequential methods in the design and analysis of clinical trials" (1977); Jennison and Turnbull,
// "Group Sequential Methods" (2000), table 2.1, for equal steps.
it.each([
  [1, 1.96],
  [2, 2.178],
  [3, 2.289],
  [5, 2.413],
  [10, 2.555],
])("%d equal looks: the bound is %d standard errors", (count, bound) => {
  const looks = Array.from({ length: count }, (_, look) => 20 * (look + 1));
  expect(normalQuantile((1 + confidencePerLook(looks)) / 2)).toBeCloseTo(bound, 2);
});
