import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LATTICE } from "./testing.ts";
import { COORDINATES, logTimesAt, type PathFacts, predictedTimes, type TimesLattice } from "./times.ts";

const path = (rttMs: number, lossRatio: number, deliveryRateBps = 25_000_000): PathFacts => ({
  rttMs,
  lossRatio,
  deliveryRateBps,
});
const times = (lattice: TimesLattice, facts: PathFacts, bytes = 1_000_000) =>
  predictedTimes(logTimesAt(lattice, facts, bytes), bytes);

/** Half way between the ends of LATTICE's axes, in their own coordinates. */
const MIDDLE_RTT_MS = Math.sqrt(101) - 1;
const MIDDLE_LOSS = Math.sqrt(0.001 * 0.041) - 0.001;

/**
 * Two values on each axis. Staying takes 2 (RTT), 3 (loss), 5 (rate) and 7 (bytes) times as long at the second of each.
 */
const nodes = Array.from(
  { length: 16 },
  (_, i) => 1_000 * 2 ** (i & 1) * 3 ** ((i >> 1) & 1) * 5 ** ((i >> 2) & 1) * 7 ** (i >> 3),
);
const FOUR_AXES: TimesLattice = {
  rttMs: [0, 100],
  lossRatio: [0, 0.04],
  deliveryRateBps: [1e6, 4e6],
  contentBytes: [1e4, 1e6],
  stayMs: nodes,
  switchMs: nodes.map((ms) => ms / 2),
  coldMs: nodes.map((ms) => ms / 4),
};

describe("times at a path", () => {
  it.each([
    ["a node", path(0, 0), { stayMs: 100, switchMs: 200, coldMs: 100, clamped: false }],
    ["the far corner", path(100, 0.04), { stayMs: 1600, switchMs: 800, coldMs: 400, clamped: false }],
    [
      "half way in RTT: the geometric mean",
      path(MIDDLE_RTT_MS, 0),
      { stayMs: 200, switchMs: 400, coldMs: 200, clamped: false },
    ],
    ["half way in loss", path(0, MIDDLE_LOSS), { stayMs: 200, switchMs: 200, coldMs: 100, clamped: false }],
    ["half way in both", path(MIDDLE_RTT_MS, MIDDLE_LOSS), { stayMs: 400, switchMs: 400, coldMs: 200, clamped: false }],
    ["beyond the RTT axis: its edge", path(500, 0), { stayMs: 400, switchMs: 800, coldMs: 400, clamped: true }],
    ["beyond the loss axis", path(0, 0.5), { stayMs: 400, switchMs: 200, coldMs: 100, clamped: true }],
    [
      "less than 5 % beyond an axis is on it",
      path(104, 0),
      { stayMs: 400, switchMs: 800, coldMs: 400, clamped: false },
    ],
    ["an axis of one value: times are not known to depend on it", path(0, 0, 1), { stayMs: 100, clamped: false }],
  ])("%s", (_name, facts, expected) => {
    const at = times(LATTICE, facts);
    expect(at).toMatchObject({ clamped: expected.clamped, contentBytes: 1_000_000 });
    for (const [name, ms] of Object.entries(expected))
      if (typeof ms === "number") expect(at[name as "stayMs"]).toBeCloseTo(ms, 9);
  });

  it.each([
    ["the first node", path(0, 0, 1e6), 1e4, 1_000],
    ["the second RTT", path(100, 0, 1e6), 1e4, 2_000],
    ["the second loss", path(0, 0.04, 1e6), 1e4, 3_000],
    ["the second rate", path(0, 0, 4e6), 1e4, 5_000],
    ["the second size", path(0, 0, 1e6), 1e6, 7_000],
    ["the last node", path(100, 0.04, 4e6), 1e6, 210_000],
    ["half way in rate and bytes", path(0, 0, 2e6), 1e5, 1_000 * Math.sqrt(35)],
  ])("runs over RTT fastest, then loss, rate, bytes: %s", (_name, facts, bytes, stayMs) => {
    const at = times(FOUR_AXES, facts, bytes);
    expect(at.stayMs).toBeCloseTo(stayMs, 6);
    expect(at.stayMs / at.switchMs).toBeCloseTo(2, 9);
    expect(at.stayMs / at.coldMs).toBeCloseTo(4, 9);
  });

  it("has logarithms for what decides: above 0 HTTP/3 saves", () => {
    expect(logTimesAt(LATTICE, path(0, 0), 1e6).switchSaving).toBeCloseTo(-Math.log(2), 12);
    expect(logTimesAt(LATTICE, path(0, 0), 1e6).coldSaving).toBeCloseTo(0, 12);
    expect(logTimesAt(LATTICE, path(0, 0.04), 1e6).switchSaving).toBeCloseTo(Math.log(2), 12);
    expect(logTimesAt(LATTICE, path(0, 0.04), 1e6).coldSaving).toBeCloseTo(Math.log(4), 12);
  });

  it("outside the axes is the less certain the farther", () => {
    const fitted = { ...LATTICE, switchSe: [0.1, 0.1, 0.3, 0.3], coldSe: [0.2, 0.2, 0.2, 0.2] };
    const se = (facts: PathFacts) => logTimesAt(fitted, facts, 1e6);
    expect(se(path(0, MIDDLE_LOSS))).toMatchObject({ coldSe: 0.2 });
    expect(se(path(0, MIDDLE_LOSS)).switchSe).toBeCloseTo(0.2, 12);
    // A factor of e beyond each axis: 0.2 each.
    const far = path(Math.E * 101 - 1, Math.E * 0.041 - 0.001);
    expect(se(far).switchSe).toBeCloseTo(0.3 + 0.4, 9);
    expect(se(far).coldSe).toBeCloseTo(0.2 + 0.4, 9);
  });

  it("says so where no measurements surround the path", () => {
    const partly = { ...LATTICE, supported: [1, 1, 0, 0] };
    expect(times(partly, path(0, MIDDLE_LOSS * 0.9)).clamped).toBe(false);
    expect(times(partly, path(0, MIDDLE_LOSS * 1.1)).clamped).toBe(true);
  });

  it.each(["rttMs", "lossRatio", "deliveryRateBps"] as const)("of a broken %s has no times", (axis) => {
    for (const broken of [Number.NaN, -10]) {
      const log = logTimesAt(FOUR_AXES, { ...path(50, 0.02, 2e6), [axis]: broken }, 1e5);
      expect([log.stay, log.switchSaving, log.coldSaving]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    }
  });

  it("stays within the lattice's times, whatever the path", () => {
    const least = Math.min(...nodes);
    const most = Math.max(...nodes);
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 1, max: 1e15, noNaN: true }),
        fc.double({ min: 1, max: 1e15, noNaN: true }),
        (rttMs, lossRatio, deliveryRateBps, bytes) => {
          const at = times(FOUR_AXES, { rttMs, lossRatio, deliveryRateBps }, bytes);
          expect(at.stayMs).toBeGreaterThanOrEqual(least * (1 - 1e-9));
          expect(at.stayMs).toBeLessThanOrEqual(most * (1 + 1e-9));
        },
      ),
    );
  });
});

it("coordinates increase with what they stand for", () => {
  for (const coordinate of Object.values(COORDINATES)) {
    const at = [0.001, 0.01, 0.5, 1].map((value) => coordinate(value));
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(new Set(at).size).toBe(4);
  }
});
