import { describe, expect, it } from "vitest";
import { normal, seededRandom } from "../statistics/random.ts";
import { localRegression, type Observation } from "./local-regression.ts";

const grid = (y: (a: number, b: number) => number, variance = 1e-6): Observation[] =>
  [0, 0.5, 1, 1.5, 2, 2.5, 3].flatMap((a) => [0, 0.5, 1, 1.5, 2].map((b) => ({ x: [a, b], y: y(a, b), variance })));

describe("localRegression", () => {
  it("finds a plane, between the observations too", () => {
    const plane = grid((a, b) => 1 + 2 * a - b);
    for (const at of [
      [1.5, 1],
      [1.2, 0.9],
    ]) {
      const fitted = localRegression(plane, at, 1.2, 6);
      // A ridge holds slopes back a little; in the middle of the data that moves nothing.
      expect(fitted.estimate).toBeCloseTo(1 + 2 * (at[0] ?? 0) - (at[1] ?? 0), 1);
    }
  });

  it("is less certain where observations are far, few or noisy", () => {
    const seAt = (observations: readonly Observation[], at: readonly number[]): number =>
      localRegression(observations, at, 1.2, 6).se;
    const quiet = grid(() => 0, 0.01);
    expect(seAt(quiet, [6, 1])).toBeGreaterThan(2 * seAt(quiet, [1.5, 1]));
    expect(
      seAt(
        quiet.filter((_, i) => i % 3 === 0),
        [1.5, 1],
      ),
    ).toBeGreaterThan(seAt(quiet, [1.5, 1]));
    expect(
      seAt(
        grid(() => 0, 0.09),
        [1.5, 1],
      ),
    ).toBeCloseTo(3 * seAt(quiet, [1.5, 1]), 1);
  });

  it("counts what lies within the asked radius, and reaches further where that is too little", () => {
    const plane = grid((a) => a);
    expect(localRegression(plane, [1.5, 1], 0.6, 6).near).toBe(5);
    expect(localRegression(plane, [9, 1], 0.6, 6).near).toBe(0);
  });

  it("has standard errors that cover the truth as often as they say", () => {
    const random = seededRandom(1, "coverage");
    let covered = 0;
    const runs = 300;
    for (let run = 0; run < runs; run++) {
      const noisy = grid((a, b) => a + b).map((one) => ({ ...one, y: one.y + 0.3 * normal(random), variance: 0.09 }));
      const fitted = localRegression(noisy, [1.5, 1], 1.2, 6);
      if (Math.abs(fitted.estimate - 2.5) <= 1.96 * fitted.se) covered++;
    }
    expect(covered / runs).toBeGreaterThan(0.92);
    expect(covered / runs).toBeLessThan(0.985);
  });
});
