import { describe, expect, it } from "vitest";
import { meanInterval, medianInterval, ratioOfMeansInterval, type Interval } from "./bootstrap.ts";
import { seededRandom } from "./random.ts";
import { lognormal } from "./testing.ts";

/** A few hundred experiments: within four standard errors of what README.md says of many more. */
const EXPERIMENTS = 300;

function coverage(truth: number, experiment: (random: () => number) => Interval, name: string): number {
  const random = seededRandom("coverage", name);
  let covered = 0;
  for (let done = 0; done < EXPERIMENTS; done++) {
    const { low, high } = experiment(random);
    if (low <= truth && truth <= high) covered += 1;
  }
  return covered / EXPERIMENTS;
}

describe("coverage of 95 % intervals, lognormal", () => {
  it.each([
    { cv: 0.3, n: 10, mean: 0.942, ratio: 0.934 },
    { cv: 0.3, n: 30, mean: 0.944, ratio: 0.952 },
    { cv: 1.2, n: 10, mean: 0.891, ratio: 0.928 },
    { cv: 1.2, n: 30, mean: 0.915, ratio: 0.932 },
  ])("cv $cv, n $n", ({ cv, n, mean, ratio }) => {
    const slack = 4 * Math.sqrt((0.05 * 0.95) / EXPERIMENTS);
    const shape = { mean: 100, cv };
    const resamples = 500;
    const ofMean = coverage(
      100,
      (random) => meanInterval(lognormal(n, shape, random), { random, resamples }),
      `mean ${cv} ${n}`,
    );
    const ofRatio = coverage(
      1,
      (random) => ratioOfMeansInterval(lognormal(n, shape, random), lognormal(n, shape, random), { random, resamples }),
      `ratio ${cv} ${n}`,
    );
    expect(Math.abs(ofMean - mean)).toBeLessThan(slack);
    expect(Math.abs(ofRatio - ratio)).toBeLessThan(slack);
  });

  it("median", () => {
    const median = 100 / Math.sqrt(1 + 1.2 ** 2);
    const covered = coverage(
      median,
      (random) => medianInterval(lognormal(30, { mean: 100, cv: 1.2 }, random), { random, resamples: 500 }),
      "median",
    );
    expect(Math.abs(covered - 0.95)).toBeLessThan(4 * Math.sqrt((0.05 * 0.95) / EXPERIMENTS));
  });
});

describe("every interval", () => {
  const a = lognormal(40, { mean: 300, cv: 0.5 }, seededRandom("a"));
  const b = lognormal(30, { mean: 200, cv: 0.5 }, seededRandom("b"));
  const intervals: readonly [string, (seed: string) => Interval][] = [
    ["mean", (seed) => meanInterval(a, { random: seededRandom(seed) })],
    ["median", (seed) => medianInterval(a, { random: seededRandom(seed) })],
    ["ratio of means", (seed) => ratioOfMeansInterval(a, b, { random: seededRandom(seed) })],
  ];

  it.each(intervals)("%s: holds its estimate, repeats under a seed, hardly differs under another", (_, interval) => {
    const { estimate, low, high } = interval("one");
    expect(low).toBeLessThan(estimate);
    expect(high).toBeGreaterThan(estimate);
    expect(interval("one")).toEqual({ estimate, low, high });
    const other = interval("other");
    expect(Math.abs(Math.log(other.low / low))).toBeLessThan(0.1 * Math.log(high / low));
    expect(Math.abs(Math.log(other.high / high))).toBeLessThan(0.1 * Math.log(high / low));
  });

  it("of a ratio turns over when the arms change places", () => {
    const ratio = ratioOfMeansInterval(a, b, { random: seededRandom("turn"), resamples: 20_000 });
    const turned = ratioOfMeansInterval(b, a, { random: seededRandom("turn"), resamples: 20_000 });
    expect(turned.estimate).toBeCloseTo(1 / ratio.estimate, 12);
    expect(Math.abs(Math.log(turned.low * ratio.high))).toBeLessThan(0.02);
  });

  it("does not depend on the unit", () => {
    const ms = meanInterval(a, { random: seededRandom("unit") });
    const seconds = meanInterval(
      a.map((value) => value / 1_000),
      { random: seededRandom("unit") },
    );
    expect(seconds.low * 1_000).toBeCloseTo(ms.low, 6);
    expect(seconds.high * 1_000).toBeCloseTo(ms.high, 6);
  });
});

describe("too little", () => {
  const random = seededRandom("little");
  it("knows nothing of the spread of one value", () => {
    expect(meanInterval([5], { random })).toEqual({ estimate: 5, low: 0, high: Number.POSITIVE_INFINITY });
    expect(medianInterval([5], { random })).toEqual({ estimate: 5, low: 0, high: Number.POSITIVE_INFINITY });
    expect(ratioOfMeansInterval([5], [5, 6], { random })).toMatchObject({ low: 0, high: Number.POSITIVE_INFINITY });
  });

  it("gives values without spread an interval without width", () => {
    const { low, high } = ratioOfMeansInterval([6, 6, 6], [3, 3], { random });
    expect([low, high]).toEqual([expect.closeTo(2, 12), expect.closeTo(2, 12)]);
  });

  it("stays finite for two values an arm", () => {
    const { low, high } = ratioOfMeansInterval([1, 2], [3, 4], { random });
    expect(low).toBeGreaterThan(0);
    expect(Number.isFinite(high)).toBe(true);
  });
});
