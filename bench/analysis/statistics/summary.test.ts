import { expect, it } from "vitest";
import { mean, median, quantile, sd } from "./summary.ts";

it.each([
  [0, 1],
  [0.1, 1.9],
  [0.25, 3.25],
  [0.5, 5.5],
  [0.9, 9.1],
  [1, 10],
])("quantile %d of 1 to 10 is %d, as R's type 7", (probability, expected) => {
  expect(quantile([10, 1, 9, 2, 8, 3, 7, 4, 6, 5], probability)).toBeCloseTo(expected, 12);
});

it("summarizes a sample", () => {
  const values = [2, 4, 4, 4, 5, 5, 7, 9];
  expect(mean(values)).toBe(5);
  expect(median(values)).toBe(4.5);
  expect(sd(values)).toBeCloseTo(Math.sqrt(32 / 7), 12);
  expect(values).toEqual([2, 4, 4, 4, 5, 5, 7, 9]);
});

it("keeps a small spread beside a large mean", () => {
  expect(sd([1e9, 1e9 + 1, 1e9 + 2])).toBeCloseTo(1, 9);
});

it("says NaN where nothing can be said", () => {
  expect([mean([]), median([]), sd([]), sd([3])]).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
});
