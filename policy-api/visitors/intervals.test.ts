import { describe, expect, it } from "vitest";
import { CLIENTS_MIN, estimateOf, reachAfter, TUNED_TO_CLIENTS } from "./intervals.ts";

const Z = 1.959963984540054;

describe("reachAfter", () => {
  // By hand: rho^2 = (2 ln 20 + ln(2 ln 20 + 1)) / 10,000 = 7.93614e-4.
  it.each([
    [200, 3.416],
    [1000, 1.97],
    [10_000, 1.549],
    [20_000, 1.562],
    [100_000, 1.654],
  ])("after %d clients is %d times that of a fixed number", (clients, times) => {
    expect(reachAfter(clients) / Z).toBeCloseTo(times, 2);
  });

  it("is nearest to a fixed number's near the number that it is tuned to", () => {
    const at = [0.01, 0.1, 0.5, 1, 2, 10, 100].map((factor) => reachAfter(TUNED_TO_CLIENTS * factor));
    // The reach beside sqrt(2 ln ...) is flat there: 1 is the smallest of those that are a factor of two apart or more.
    expect(Math.min(...at)).toBe(at[3]);
  });

  it("is wider where it must be right more often", () => {
    expect(reachAfter(1000, 0.01)).toBeGreaterThan(reachAfter(1000, 0.05));
  });

  it("is a mixture's boundary: the mixture is 1 / alpha on it", () => {
    // Robbins 1970: over effects ~ N(0, rho^2), the likelihood ratio at z standard errors is exp(z^2 x / 2 (x + 1)) / sqrt(x + 1).
    for (const clients of [200, 3000, 1e6]) {
      const twice = -2 * Math.log(0.05);
      const x = (clients * (twice + Math.log(twice + 1))) / TUNED_TO_CLIENTS;
      const z = reachAfter(clients);
      expect(Math.exp((z * z * x) / (2 * (x + 1))) / Math.sqrt(x + 1)).toBeCloseTo(20, 6);
    }
  });
});

describe("estimateOf", () => {
  it("is the estimate and its reach to both sides", () => {
    const interval = estimateOf(0.1, 0.01, { offered: 7000, withheld: 3000 });
    expect(interval?.high).toBeCloseTo(0.1 + 0.01 * reachAfter(10_000), 12);
    expect(interval?.low).toBeCloseTo(0.1 - 0.01 * reachAfter(10_000), 12);
  });

  it.each([
    [{ offered: CLIENTS_MIN - 1, withheld: 10_000 }],
    [{ offered: 10_000, withheld: CLIENTS_MIN - 1 }],
    [{ offered: 0, withheld: 0 }],
  ])("is nothing while an arm has too few clients: %j", (clients) => {
    expect(estimateOf(0.1, 0.01, clients)).toBeUndefined();
  });

  it.each([
    [Number.NaN, 0.01],
    [0.1, Number.NaN],
    [0.1, -1],
  ])("is nothing of %d with an error of %d", (value, se) => {
    expect(estimateOf(value, se, { offered: 500, withheld: 500 })).toBeUndefined();
  });
});
