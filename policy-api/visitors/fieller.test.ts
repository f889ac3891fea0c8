import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Quotient, quotientOf } from "./fieller.ts";

const GIVEN: Quotient = {
  numerator: 0.1,
  denominator: 0.5,
  numeratorVariance: 0.0004,
  denominatorVariance: 0.0001,
  covariance: 0.00005,
  reach: 2,
};

/** How many standard errors numerator - q x denominator is from 0. */
function distance(given: Quotient, q: number): number {
  const variance = given.numeratorVariance - 2 * q * given.covariance + q * q * given.denominatorVariance;
  return Math.abs(given.numerator - q * given.denominator) / Math.sqrt(variance);
}

describe("quotientOf", () => {
  it("ends where the difference is as far from 0 as the reach", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1, max: 1, noNaN: true }),
        fc.double({ min: 0.3, max: 1, noNaN: true }),
        fc.double({ min: -0.9, max: 0.9, noNaN: true }),
        (numerator, denominator, correlation) => {
          const given = { ...GIVEN, numerator, denominator, covariance: correlation * 0.02 * 0.01 };
          const found = quotientOf(given);
          expect(found?.value).toBeCloseTo(numerator / denominator, 12);
          expect(distance(given, found?.low ?? 0)).toBeCloseTo(2, 5);
          expect(distance(given, found?.high ?? 0)).toBeCloseTo(2, 5);
          expect(found?.low).toBeLessThanOrEqual(found?.value ?? 0);
          expect(found?.high).toBeGreaterThanOrEqual(found?.value ?? 0);
        },
      ),
    );
  });

  it("is the numerator's own interval, divided, where the denominator is certain", () => {
    const found = quotientOf({ ...GIVEN, denominatorVariance: 0, covariance: 0 });
    expect(found?.low).toBeCloseTo((0.1 - 0.04) / 0.5, 12);
    expect(found?.high).toBeCloseTo((0.1 + 0.04) / 0.5, 12);
    expect(found?.se).toBeCloseTo(0.02 / 0.5, 12);
  });

  it.each([
    ["cannot be told from 0", { denominator: 0.019 }],
    ["is 0", { denominator: 0 }],
    ["is below 0", { denominator: -0.5 }],
    ["is not known", { denominator: Number.NaN }],
  ])("is nothing where the denominator %s", (_name, over) => {
    expect(quotientOf({ ...GIVEN, ...over })).toBeUndefined();
  });
});
