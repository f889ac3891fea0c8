import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ClientDay } from "./client-day.ts";
import { beyondExpected, LIARS, liesShift } from "./lies.ts";
import { ratiosOf, type Ratios } from "./ratios.ts";
import { clientDay, drawnDays, report, sumOf } from "./testing.ts";

const CLIENTS = 200;
const ratios = (days: readonly ClientDay[]): Ratios => {
  const found = ratiosOf(sumOf(days).load);
  if (found === undefined) throw new Error("No ratios.");
  return found;
};

/** A client in twenty says the same of as many pages as it likes. */
function lying(days: readonly ClientDay[], ms: number, pages: number): ClientDay[] {
  return days.map((day, i) =>
    i % (1 / LIARS) === 0 ? clientDay(Array.from({ length: pages }, () => report(ms))) : day,
  );
}

describe("liesShift", () => {
  it("is more than any lies of 5 % of the clients move the arms apart", () => {
    const lie = fc.tuple(fc.double({ min: 1, max: 3_600_000, noNaN: true }), fc.integer({ min: 1, max: 40 }));
    fc.assert(
      fc.property(fc.integer(), lie, lie, (seed, [slowMs, slowPages], [fastMs, fastPages]) => {
        const [a, b] = [drawnDays({ clients: CLIENTS, seed }), drawnDays({ clients: CLIENTS, seed: seed + 1 })];
        const [offered, withheld] = [ratios(lying(a, slowMs, slowPages)), ratios(lying(b, fastMs, fastPages))];
        // Without those who lie: the lies are all that differs.
        const honest = [a, b].map((days) => ratios(days.filter((_, i) => i % (1 / LIARS) !== 0)));
        const moved =
          beyondExpected(withheld.means) -
          beyondExpected(offered.means) -
          (beyondExpected(honest[1]?.means ?? []) - beyondExpected(honest[0]?.means ?? []));
        expect(Math.abs(moved)).toBeLessThanOrEqual(liesShift({ offered, withheld }) + 1e-9);
      }),
      { numRuns: 60 },
    );
  });

  it("grows with the share of liars, and has no end where all of them may lie", () => {
    const arms = {
      offered: ratios(drawnDays({ clients: 300 })),
      withheld: ratios(drawnDays({ clients: 300, seed: 5 })),
    };
    expect(liesShift(arms, 0)).toBe(0);
    expect(liesShift(arms, 0.02)).toBeLessThan(liesShift(arms, 0.05));
    expect(liesShift(arms, 1)).toBe(Number.POSITIVE_INFINITY);
  });
});
