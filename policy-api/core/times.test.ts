import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TABLE } from "./testing.ts";
import { predictTimes, type TimesTable } from "./times.ts";

const path = (rttMs: number, lossRatio: number, deliveryRateBps = 25_000_000) => ({
  rttMs,
  lossRatio,
  deliveryRateBps,
});

describe("predictTimes", () => {
  it.each([
    ["a lattice point", path(0, 0), { stayMs: 100, switchMs: 200, coldMs: 100, clamped: false }],
    ["the far corner", path(100, 0.04), { stayMs: 1600, switchMs: 800, coldMs: 400, clamped: false }],
    ["half way in RTT: the geometric mean", path(50, 0), { stayMs: 200, switchMs: 400, coldMs: 200, clamped: false }],
    ["half way in both", path(50, 0.02), { stayMs: 400, switchMs: 400, coldMs: 200, clamped: false }],
    ["beyond the RTT axis", path(500, 0), { stayMs: 400, switchMs: 800, coldMs: 400, clamped: true }],
    ["beyond the loss axis", path(0, 0.5), { stayMs: 400, switchMs: 200, coldMs: 100, clamped: true }],
  ])("%s", (_name, facts, expected) => {
    const times = predictTimes([TABLE], facts);
    expect(times?.clamped).toBe(expected.clamped);
    for (const key of ["stayMs", "switchMs", "coldMs"] as const) expect(times?.[key]).toBeCloseTo(expected[key], 9);
  });

  it("has nothing to say without tables", () => {
    expect(predictTimes([], path(1, 0))).toBeUndefined();
  });

  it("takes the table nearest in the logarithm of the rate", () => {
    const slow: TimesTable = { ...TABLE, deliveryRateBps: 1_000_000, contentBytes: 1 };
    expect(predictTimes([TABLE, slow], path(0, 0, 6_000_000))?.contentBytes).toBe(1_000_000);
    expect(predictTimes([TABLE, slow], path(0, 0, 4_000_000))?.contentBytes).toBe(1);
  });

  it("prefers a table whose loss reaches the path's to one that is nearer in rate", () => {
    const first = TABLE.stayMs.slice(0, 1);
    const clean: TimesTable = {
      ...TABLE,
      deliveryRateBps: 1_000_000,
      contentBytes: 1,
      lossRatio: [0],
      stayMs: first,
      switchMs: first,
      coldMs: first,
    };
    expect(predictTimes([clean, TABLE], path(0, 0.03, 1_000_000))?.contentBytes).toBe(1_000_000);
    expect(predictTimes([clean, TABLE], path(0, 0.0005, 1_000_000))?.contentBytes).toBe(1);
    expect(predictTimes([clean], path(0, 0.03, 1_000_000))?.clamped).toBe(true);
  });

  it("stays within the lattice's times, whatever the path", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e4, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (rtt, loss) => {
          const times = predictTimes([TABLE], path(rtt, loss));
          expect(times?.stayMs).toBeGreaterThanOrEqual(100 - 1e-6);
          expect(times?.stayMs).toBeLessThanOrEqual(1600 + 1e-6);
        },
      ),
    );
  });
});
