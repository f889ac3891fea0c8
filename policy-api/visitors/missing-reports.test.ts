import { describe, expect, it } from "vitest";
import { missingOf } from "./missing-reports.ts";
import { clientDay, drawnArms, drawnDays, report, sumOf } from "./testing.ts";

describe("missingOf", () => {
  it("sees no difference where none is", () => {
    const found = missingOf(drawnArms({ clients: 1500, missing: 0.1 }, { clients: 1500, missing: 0.1 }), "load");
    expect(found?.differs).toBe(false);
    expect(found?.share.offered).toBeCloseTo(0.1, 1);
    expect(found?.difference.low).toBeLessThan(0);
    expect(found?.difference.high).toBeGreaterThan(0);
  });

  it("sees that those offered report less often", () => {
    const found = missingOf(drawnArms({ clients: 1500, missing: 0.3 }, { clients: 1500, missing: 0.1 }), "load");
    expect(found?.differs).toBe(true);
    expect(found?.difference.value).toBeCloseTo(0.2, 1);
    expect(found?.difference.low).toBeGreaterThan(0);
  });

  it("says how far the missing pages can be: further than they were", () => {
    // Those offered do not report the slowest of their pages: a quarter of them.
    const slow = Array.from({ length: 200 }, () => clientDay([report(800), report(1000), report(1200), report(3900)]));
    const lost = Array.from({ length: 200 }, () => clientDay([report(800), report(1000), report(1200)], 1));
    const found = missingOf({ offered: sumOf(lost), withheld: sumOf(slow) }, "load");
    const mean = (logs: readonly number[]): number => logs.reduce((a, b) => a + Math.log(b), 0) / logs.length;
    const made = mean([0.8, 1, 1.2, 3.9]) - mean([0.8, 1, 1.2]);
    expect(found?.share.offered).toBeCloseTo(0.25, 3);
    expect(found?.shift).toBeGreaterThanOrEqual(made);
    expect(found?.shift).toBeLessThan(3 * made);
  });

  it.each([
    [99, 500],
    [500, 99],
  ])("is nothing of %d and %d clients", (offered, withheld) => {
    expect(missingOf(drawnArms({ clients: offered }, { clients: withheld }), "load")).toBeUndefined();
  });

  it("knows no bound where one arm reports nothing", () => {
    const silent = sumOf(Array.from({ length: 200 }, () => clientDay([], 2)));
    const found = missingOf({ offered: silent, withheld: sumOf(drawnDays({ clients: 200 })) }, "load");
    expect(found?.share.offered).toBe(1);
    expect(found?.differs).toBe(true);
    expect(found?.shift).toBe(Number.POSITIVE_INFINITY);
  });
});
