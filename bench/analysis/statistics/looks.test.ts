import { expect, it } from "vitest";
import { confidencePerLook, plannedLooks } from "./allocation.ts";

it.each([
  [10, 100, [10, 15, 23, 35, 53, 80, 100]],
  [10, 10, [10]],
  [10, 11, [11]],
  [30, 20, [20]],
  [20, 400, [20, 30, 45, 68, 102, 153, 230, 400]],
])("from %d to %d runs looks at %j", (min, cap, looks) => {
  expect(plannedLooks(min, cap)).toEqual(looks);
});

// Pocock, "Group sequential methods in the design and analysis of clinical trials" (1977); Jennison and Turnbull,
// "Group Sequential Methods" (2000), table 2.1, for equal steps; beside each bound, how often a normal variable keeps it.
it.each([
  [1, 1.96, 0.95],
  [2, 2.178, 0.9706],
  [3, 2.289, 0.9779],
  [5, 2.413, 0.9842],
  [10, 2.555, 0.9894],
])("%d equal looks: the bound is %d standard errors", (count, _bound, confidence) => {
  const looks = Array.from({ length: count }, (_, look) => 20 * (look + 1));
  expect(confidencePerLook(looks)).toBeCloseTo(confidence, 3);
});
