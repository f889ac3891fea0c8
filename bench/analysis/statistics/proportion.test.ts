import { expect, it } from "vitest";
import { proportion } from "./proportion.ts";

// Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
it.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])("%d of %d: %d to %d", (count, n, low, high) => {
  const share = proportion(count, n);
  expect(share.share).toBeCloseTo(count / n, 12);
  expect(share.low).toBeCloseTo(low, 4);
  expect(share.high).toBeCloseTo(high, 4);
});

it("is symmetric, stays within 0 and 1, and knows nothing of no observations", () => {
  const few = proportion(3, 50);
  const many = proportion(47, 50);
  expect(few.low).toBeCloseTo(1 - many.high, 12);
  expect(proportion(50, 50)).toMatchObject({ share: 1, high: 1 });
  expect(proportion(0, 50)).toMatchObject({ share: 0, low: 0 });
  expect(proportion(0, 0)).toEqual({ count: 0, n: 0, share: Number.NaN, low: 0, high: 1 });
});
