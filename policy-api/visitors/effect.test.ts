import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClientDay } from "./client-day.ts";
import { beyondExpected, effectOf, LIARS, liesShift, type Quotient, quotientOf } from "./effect.ts";
import { type Ratios, ratiosOf } from "./ratios.ts";
import { type Sums } from "./sums.ts";
import { add, clientDay, drawnArms, drawnDays, report, sumOf } from "./testing.ts";

const SAVES = { clients: 3000, saves: 0.2, overH3: 0.8 };

describe("effectOf", () => {
  it("finds what was planted: by assignment, and of those who changed", () => {
    const effect = effectOf(drawnArms(SAVES, { clients: 3000 }));
    expect(effect?.compliance.value).toBeCloseTo(0.8, 1);
    expect(effect?.gain.low).toBeGreaterThan(0);
    expect(effect?.gain.low).toBeLessThan(0.16);
    expect(effect?.gain.high).toBeGreaterThan(0.16);
    expect(effect?.local?.low).toBeLessThan(0.2);
    expect(effect?.local?.high).toBeGreaterThan(0.2);
    expect(effect?.local?.value).toBeCloseTo((effect?.gain.value ?? 0) / (effect?.compliance.value ?? 1), 12);
  });

  it("finds nothing where nothing was planted", () => {
    const effect = effectOf(drawnArms({ clients: 3000, overH3: 0.8 }, { clients: 3000 }));
    expect(effect?.gain.low).toBeLessThan(0);
    expect(effect?.gain.high).toBeGreaterThan(0);
  });

  it("changes its sign, and nothing else, when the arms change places", () => {
    const arms = drawnArms(SAVES, { clients: 2000 });
    const there = effectOf(arms);
    const back = effectOf({ offered: arms.withheld, withheld: arms.offered });
    expect(back?.gain.value).toBeCloseTo(-(there?.gain.value ?? 0), 12);
    expect(back?.gain.se).toBeCloseTo(there?.gain.se ?? 0, 12);
    expect(back?.compliance.value).toBeCloseTo(-(there?.compliance.value ?? 0), 12);
    // Fewer of those offered use HTTP/3: then nothing can be said of HTTP/3.
    expect(back?.local).toBeUndefined();
  });

  it("is more certain by what the predicted time explains", () => {
    // Expected times of 0.5 to 2 s: their spread is that of a page's time, if it is not adjusted for.
    const effect = effectOf(drawnArms({ clients: 2000 }, { clients: 2000 }));
    const blind = (days: ReturnType<typeof drawnDays>): Sums =>
      sumOf(days.map((day) => ({ ...day, load: { ...day.load, predicted: 0 } })));
    const unadjusted = effectOf({
      offered: blind(drawnDays({ clients: 2000 })),
      withheld: blind(drawnDays({ clients: 2000, seed: 2 })),
    });
    expect(effect?.gain.se).toBeLessThan(0.7 * (unadjusted?.gain.se ?? 0));
  });

  it("makes up for pages at the bounds, which do not move", () => {
    const wide = { clients: 6000, spread: 1.4 };
    const effect = effectOf(drawnArms({ ...wide, saves: 0.2, overH3: 1 }, wide));
    expect(effect?.atBound).toBeGreaterThan(0.05);
    expect(Math.abs((effect?.gain.value ?? 0) - 0.2)).toBeLessThan(2.6 * (effect?.gain.se ?? 0));
  });

  it("is nothing while an arm has fewer than 100 clients whose pages reported", () => {
    const arms = drawnArms({ clients: 99 }, { clients: 5000 });
    expect(effectOf(arms)).toBeUndefined();
    // A client of which no page reported does not make a hundred.
    expect(effectOf({ ...arms, offered: add(arms.offered, clientDay([], 3)) })).toBeUndefined();
    expect(effectOf({ ...arms, offered: add(arms.offered, clientDay([report(1000)])) })).toBeDefined();
  });

  it("says nothing of an outcome that nobody reported", () => {
    expect(effectOf(drawnArms({ clients: 300 }, { clients: 300 }), "lcp")).toBeUndefined();
  });

  it("says nothing of HTTP/3 where too few use it", () => {
    const effect = effectOf(drawnArms({ clients: 300, overH3: 0.01 }, { clients: 300 }));
    expect(effect?.gain).toBeDefined();
    expect(effect?.local).toBeUndefined();
  });

  it("is certain where all clients of an arm are alike", () => {
    const alike = (ms: number, overH3: boolean): Sums =>
      sumOf(Array.from({ length: 200 }, () => clientDay([report(ms, { overH3 })])));
    const effect = effectOf({ offered: alike(800, true), withheld: alike(1000, false) });
    expect(effect?.gain.value).toBeCloseTo(Math.log(1.25), 3);
    expect(effect?.gain.se).toBe(0);
    expect(effect?.local?.value).toBeCloseTo(Math.log(1.25), 3);
  });

  it("says nothing where every page is at a bound", () => {
    const out = sumOf(Array.from({ length: 200 }, () => clientDay([report(50_000)])));
    expect(effectOf({ offered: out, withheld: out })).toBeUndefined();
  });
});

const GIVEN: Quotient = {
  numerator: 0.1,
  denominator: 0.5,
  numeratorVariance: 0.0004,
  denominatorVariance: 0.0001,
  covariance: 0.00005,
  reach: 2,
};

/** How many standard errors numerator - q x denominator is from 0. */
function distance(given: Quotient, q: number): number {
  const variance = given.numeratorVariance - 2 * q * given.covariance + q * q * given.denominatorVariance;
  return Math.abs(given.numerator - q * given.denominator) / Math.sqrt(variance);
}

describe("quotientOf", () => {
  it("ends where the difference is as far from 0 as the reach", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1, max: 1, noNaN: true }),
        fc.double({ min: 0.3, max: 1, noNaN: true }),
        fc.double({ min: -0.9, max: 0.9, noNaN: true }),
        (numerator, denominator, correlation) => {
          const given = { ...GIVEN, numerator, denominator, covariance: correlation * 0.02 * 0.01 };
          const found = quotientOf(given);
          expect(found?.value).toBeCloseTo(numerator / denominator, 12);
          expect(distance(given, found?.low ?? 0)).toBeCloseTo(2, 5);
          expect(distance(given, found?.high ?? 0)).toBeCloseTo(2, 5);
          expect(found?.low).toBeLessThanOrEqual(found?.value ?? 0);
          expect(found?.high).toBeGreaterThanOrEqual(found?.value ?? 0);
        },
      ),
    );
  });

  it("is the numerator's own interval, divided, where the denominator is certain", () => {
    const found = quotientOf({ ...GIVEN, denominatorVariance: 0, covariance: 0 });
    expect(found?.low).toBeCloseTo((0.1 - 0.04) / 0.5, 12);
    expect(found?.high).toBeCloseTo((0.1 + 0.04) / 0.5, 12);
    expect(found?.se).toBeCloseTo(0.02 / 0.5, 12);
  });

  it.each([
    ["cannot be told from 0", { denominator: 0.019 }],
    ["is 0", { denominator: 0 }],
    ["is below 0", { denominator: -0.5 }],
    ["is not known", { denominator: Number.NaN }],
  ])("is nothing where the denominator %s", (_name, over) => {
    expect(quotientOf({ ...GIVEN, ...over })).toBeUndefined();
  });
});

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
