import { expect, it } from "vitest";
import { normalCdf, normalQuantile } from "./proportion.ts";

it.each([
  [0, 0.5],
  [1, 0.841344746068543],
  [-1.959963984540054, 0.025],
  [2.5758293035489, 0.995],
  [-4, 3.16712418331199e-5],
])("cdf(%d) = %d, and back", (z, probability) => {
  expect(Math.abs(normalCdf(z) / probability - 1)).toBeLessThan(1e-10);
  expect(normalQuantile(probability)).toBeCloseTo(z, 9);
});

it("reaches its ends", () => {
  expect(normalCdf(40)).toBe(1);
  expect(normalCdf(-40)).toBe(0);
  expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
  expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
});
