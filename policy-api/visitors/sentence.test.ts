import { expect, it } from "vitest";
import { mayBeSavedText, savedText, slowedText } from "./sentence.ts";

it.each<[low: number, high: number, text: string]>([
  [0.1, 0.2, "9 to 19 %"],
  [0.012, 0.018, "1 to 2 %"],
  [0.004, 0.02, "0.3 to 2.0 %"],
  [0.0004, 0.0005, "0.03 to 0.05 %"],
  // Never more than was shown.
  [0.000_001, 3, "0.00 to 95.03 %"],
])("gains of %d to %d save %s", (low, high, text) => {
  expect(savedText({ low, high })).toBe(text);
});

it.each<[low: number, high: number, text: string]>([
  [-0.2, -0.1, "10 to 23 %"],
  [-1, -0.001, "0.1 to 171.9 %"],
])("gains of %d to %d slow pages down by %s", (low, high, text) => {
  expect(slowedText({ low, high })).toBe(text);
});

it("a gain of either sign", () => {
  expect(mayBeSavedText({ low: -0.0105, high: 0.0204 })).toBe("-1.1 to 2.1 %");
});
