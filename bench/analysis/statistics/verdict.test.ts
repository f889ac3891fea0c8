import { describe, expect, it } from "vitest";
import { equalVerdict, sideVerdict } from "./verdict.ts";

const at = (low: number, high: number) => ({ estimate: (low + high) / 2, low, high });

describe("sideVerdict", () => {
  it.each([
    [at(1.1, 1.3), "above", "Holds"],
    [at(0.7, 0.9), "above", "Does not hold"],
    [at(0.9, 1.2), "above", "Not shown"],
    [at(0.7, 0.9), "below", "Holds"],
    [at(1.1, 1.3), "below", "Does not hold"],
    [undefined, "below", "Not shown"],
  ] as const)("of %j, published %s 1: %s", (interval, expected, said) => {
    expect(sideVerdict(interval, expected)).toBe(said);
  });

  it("takes another bound", () => {
    expect(sideVerdict(at(0.1, 0.2), "above", 0)).toBe("Holds");
  });
});

describe("equalVerdict", () => {
  it.each([
    [at(0.95, 1.05), "Holds"],
    [at(0.95, 1.2), "Not shown"],
    [at(1.2, 1.3), "Does not hold"],
    [undefined, "Not shown"],
  ] as const)("of %j: %s", (ratio, said) => {
    expect(equalVerdict(ratio)).toBe(said);
  });
});
