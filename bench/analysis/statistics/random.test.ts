import { describe, expect, it } from "vitest";
import { fnv1a64, integer, normal, seededRandom, shuffle, splitMix64, xoshiro128 } from "./random.ts";
import { mean, sd } from "./summary.ts";

describe("known answers", () => {
  it("xoshiro128** gives the outputs that its authors' C code gives for the state 1, 2, 3, 4", () => {
    const draw = xoshiro128([1, 2, 3, 4]);
    expect(Array.from({ length: 10 }, draw)).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]);
  });

  it("SplitMix64 gives the published outputs for the seed 1234567", () => {
    const outputs = [1n, 2n, 3n].map((step) =>
      splitMix64((1234567n + step * 0x9e3779b97f4a7c15n) & ((1n << 64n) - 1n)),
    );
    expect(outputs).toEqual([6457827717110365317n, 3203168211198807973n, 9817491932198370423n]);
  });

  it.each([
    ["", 0xcbf29ce484222325n],
    ["a", 0xaf63dc4c8601ec8cn],
    ["foobar", 0x85944171f73967e8n],
  ])("FNV-1a of %j", (text, hash) => {
    expect(fnv1a64(text)).toBe(hash);
  });
});

describe("streams", () => {
  it("repeats under the same seed and name, and differs under any other", () => {
    const first = (random: () => number): string => Array.from({ length: 4 }, random).join(" ");
    expect(first(seededRandom(7, "cell", 1))).toBe(first(seededRandom(7, "cell", 1)));
    const names = [
      seededRandom(7, "cell", 1),
      seededRandom(7, "cell", 2),
      seededRandom(8, "cell", 1),
      seededRandom(7, "cell1"),
      seededRandom("7", "cell", 1),
    ];
    expect(new Set(names.map(first)).size).toBe(names.length);
  });

  it("is uniform, within a stream and over the first numbers of many streams", () => {
    const random = seededRandom("uniform");
    const within = Array.from({ length: 40_000 }, random);
    const across = Array.from({ length: 4_000 }, (_, cell) => seededRandom("across", cell)());
    for (const values of [within, across]) {
      const standardError = Math.sqrt(1 / 12 / values.length);
      expect(Math.abs(mean(values) - 0.5)).toBeLessThan(4 * standardError);
      expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...values)).toBeLessThan(1);
    }
  });
});

it("draws every whole number below the bound about equally often", () => {
  const random = seededRandom("integer");
  const draws = Array.from({ length: 10_000 }, () => integer(5, random));
  for (const count of [0, 1, 2, 3, 4].map((whole) => draws.filter((draw) => draw === whole).length))
    expect(Math.abs(count - 2_000)).toBeLessThan(4 * Math.sqrt(10_000 * 0.2 * 0.8));
});

it("shuffles a copy, every order about equally often", () => {
  const random = seededRandom("shuffle");
  const items = ["a", "b", "c"] as const;
  const counts = new Map<string, number>();
  for (let draw = 0; draw < 6_000; draw++) {
    const order = shuffle(items, random).join("");
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect(items).toEqual(["a", "b", "c"]);
  expect(counts.size).toBe(6);
  for (const count of counts.values())
    expect(Math.abs(count - 1_000)).toBeLessThan(4 * Math.sqrt((6_000 / 6) * (5 / 6)));
});

it("draws normal numbers", () => {
  const random = seededRandom("normal");
  const values = Array.from({ length: 20_000 }, () => normal(random));
  expect(Math.abs(mean(values))).toBeLessThan(4 / Math.sqrt(20_000));
  expect(Math.abs(sd(values) - 1)).toBeLessThan(4 / Math.sqrt(40_000));
  expect(values.filter((value) => value > 1.96).length / values.length).toBeCloseTo(0.025, 2);
});
