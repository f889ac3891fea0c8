import { describe, expect, it } from "vitest";
import { crossover, growth } from "./crossover.ts";
import { seededRandom } from "./random.ts";

const random = (name: string) => seededRandom(1, name);

/** n values around a mean, the same spread for all. */
function around(mean: number, n: number, name: string): number[] {
  const draw = random(name);
  return Array.from({ length: n }, () => mean + 20 * (draw() - 0.5));
}

describe("crossover", () => {
  const lines = (n: number) =>
    [0, 50, 100, 150].map((x) => ({ x, a: around(1_000 + 2 * x, n, `a${x}`), b: around(1_060 + x, n, `b${x}`) }));

  it("finds where two lines meet, with an interval that gets narrower with n", () => {
    const [few, many] = [crossover(lines(10), random("few")), crossover(lines(400), random("many"))];
    expect(many.x).toBeCloseTo(60, 0);
    for (const { x = 0, interval: [low, high] = [0, 0], share } of [few, many]) {
      expect(share).toBe(1);
      expect(low).toBeLessThan(x);
      expect(high).toBeGreaterThan(x);
    }
    const width = ({ interval: [low, high] = [0, 0] }: typeof few): number => high - low;
    expect(width(many)).toBeLessThan(width(few) / 3);
  });

  it("finds two means that are equal at a place itself", () => {
    const pairs = [0, 1, 2].map((x) => ({ x, a: [10, 10], b: [9 + x, 9 + x] }));
    expect(crossover(pairs, random("at")).x).toBe(1);
  });

  it("leaves out a place without values", () => {
    const pairs = [...lines(20), { x: 75, a: [], b: [1] }].toSorted((one, other) => one.x - other.x);
    expect(crossover(pairs, random("empty")).x).toBeCloseTo(60, -1);
  });

  it("says so where one is above the other everywhere", () => {
    const apart = lines(20).map(({ x, a }) => ({ x, a, b: a.map((value) => value + 500) }));
    expect(crossover(apart, random("apart"))).toEqual({ x: undefined, interval: undefined, share: 0 });
  });

  it("gives no interval where most resamples have no crossing", () => {
    const touching = [
      { x: 0, a: around(100, 10, "one"), b: around(150, 10, "two") },
      { x: 1, a: around(100, 10, "three"), b: around(103, 10, "four") },
    ];
    const found = crossover(touching, random("touching"));
    expect(found.share).toBeLessThan(0.5);
    expect(found.interval).toBeUndefined();
  });

  it("covers the truth in about 95 % of experiments", () => {
    let covered = 0;
    for (let experiment = 0; experiment < 200; experiment++) {
      const pairs = [0, 100].map((x) => ({
        x,
        a: around(1_000 + 2 * x, 30, `a${experiment} ${x}`),
        b: around(1_060 + x, 30, `b${experiment} ${x}`),
      }));
      const [low, high] = crossover(pairs, random(`${experiment}`), 300).interval ?? [0, 0];
      if (low <= 60 && 60 <= high) covered++;
    }
    expect(covered).toBeGreaterThan(176);
    expect(covered).toBeLessThan(200);
  });
});

it("growth is what a step adds", () => {
  const { estimate, low, high } = growth(around(100, 50, "here"), around(400, 50, "there"), 3, random("growth"));
  expect(estimate).toBeCloseTo(100, 0);
  expect(low).toBeLessThan(100);
  expect(high).toBeGreaterThan(100);
  expect(high - low).toBeLessThan(3);
});
