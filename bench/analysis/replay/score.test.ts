import { describe, expect, it } from "vitest";
import { seededRandom } from "../statistics/random.ts";
import { mean } from "../statistics/summary.ts";
import { ORACLE, type Played, scoreAll } from "./score.ts";

const loads = (around: number): number[][] => Array.from({ length: 20 }, (_, i) => [around + (i % 5) - 2]);
const played = (cell: string, stay: number, switched: number): Played => ({
  cell,
  stay: loads(stay),
  switch: loads(switched),
  expected: {
    never: (onH2) => mean(onH2),
    always: (_onH2, onH3) => mean(onH3),
    half: (onH2, onH3) => (mean(onH2) + mean(onH3)) / 2,
    [ORACLE]: () => Number.NaN,
  },
});
const scores = scoreAll([played("a", 100, 200), played("b", 300, 100)], "half", seededRandom(1, "test"), 100);
const of = (name: string) => scores.find(({ contender }) => contender === name);

describe("scoreAll", () => {
  it("knows what each contender loses against the better choice, cell by cell", () => {
    expect(of("never")?.mean).toBeCloseTo(1, 1);
    expect(of("never")?.worst).toBeCloseTo(2, 1);
    expect(of("never")?.worstCell).toBe("b");
    expect(of("always")?.worst).toBeCloseTo(1, 1);
    expect(of("half")?.mean).toBeCloseTo(0.75, 1);
  });

  it("counts wrong choices where something is at stake", () => {
    expect(of("never")?.wrongShare).toBe(0.5);
    expect(of(ORACLE)?.wrongShare).toBe(0);
  });

  it("lets the oracle lose nothing, and compares all with ours", () => {
    expect(of(ORACLE)).toMatchObject({ mean: 0, worst: 0 });
    expect(of(ORACLE)?.meanAboveOurs.high).toBeLessThan(0);
    expect(of("half")?.meanAboveOurs).toEqual({ estimate: 0, low: 0, high: 0 });
    expect(of("never")?.meanAboveOurs.low).toBeGreaterThan(0);
  });

  it("does not take noise for regret where both choices are equal", () => {
    const random = seededRandom(3, "noise");
    const noisy = (): number[][] => Array.from({ length: 20 }, () => [100 + 40 * random()]);
    const equal = Array.from({ length: 40 }, (_, i) => ({ ...played(`${i}`, 1, 1), stay: noisy(), switch: noisy() }));
    const [never] = scoreAll(equal, "half", seededRandom(2, "test"), 10);
    expect(Math.abs(never?.mean ?? 1)).toBeLessThan(0.01);
  });
});
