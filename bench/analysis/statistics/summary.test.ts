import { expect, it } from "vitest";
import { mean, median, quantile, sd, summarize } from "./summary.ts";

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
  expect(summarize(values)).toMatchObject({ n: 8, mean: 5, median: 4.5, min: 2, max: 9 });
  expect(summarize(values).cv).toBeCloseTo(Math.sqrt(32 / 7) / 5, 12);
  expect(values).toEqual([2, 4, 4, 4, 5, 5, 7, 9]);
});

it("keeps a small spread beside a large mean", () => {
  expect(sd([1e9, 1e9 + 1, 1e9 + 2])).toBeCloseTo(1, 9);
});

it("says NaN where nothing can be said", () => {
  expect(summarize([])).toEqual({
    n: 0,
    mean: Number.NaN,
    median: Number.NaN,
    sd: Number.NaN,
    cv: Number.NaN,
    p10: Number.NaN,
    p90: Number.NaN,
    min: Number.NaN,
    max: Number.NaN,
  });
  expect(summarize([3])).toMatchObject({ n: 1, mean: 3, median: 3, sd: Number.NaN });
});
