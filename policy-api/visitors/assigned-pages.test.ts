import { describe, expect, it } from "vitest";
import { missingOf, primaryOf, stayingOf } from "./assigned-pages.ts";
import { clientDay, drawnArms, drawnDays, numbers, report, sumOf } from "./testing.ts";

describe("primaryOf", () => {
  it("is the gain of reported pages where every page reports", () => {
    const found = primaryOf(drawnArms({ clients: 3000, saves: 0.2, overH3: 1 }, { clients: 3000 }));
    expect(found?.low).toBeLessThan(0.2);
    expect(found?.high).toBeGreaterThan(0.2);
    expect(found?.low).toBeGreaterThan(0.1);
  });

  it("sees that pages are lost, where those that report take the same", () => {
    const found = primaryOf(drawnArms({ clients: 3000, missing: 0.2 }, { clients: 3000, missing: 0.1 }));
    // A tenth of the pages counts as four times as slow as expected, which is what the others took.
    expect(found?.value).toBeCloseTo(-0.1 * Math.log(4), 1);
    expect(found?.high).toBeLessThan(0);
  });

  it("counts clients of which no page reported", () => {
    const silent = sumOf(Array.from({ length: 150 }, () => clientDay([], 1)));
    const found = primaryOf({ offered: silent, withheld: sumOf(drawnDays({ clients: 200 })) });
    expect(found?.value).toBeCloseTo(-Math.log(4), 0);
  });

  it("is nothing while an arm has fewer than 100 clients", () => {
    const arms = drawnArms({ clients: 99 }, { clients: 500 });
    expect(primaryOf(arms)).toBeUndefined();
    const hundred = sumOf([...drawnDays({ clients: 99 }), clientDay([report(1000)])]);
    expect(primaryOf({ ...arms, offered: hundred })).toBeDefined();
  });
});

/** Clients of one to five pages, none of which reports, and one more for a share `more` of them. */
function visitors(clients: number, seed: number, more = 0) {
  const next = numbers(seed);
  const pages = (): number => 1 + Math.floor(next() * 5) + (next() < more ? 1 : 0);
  return sumOf(Array.from({ length: clients }, () => clientDay([], pages())));
}

describe("stayingOf", () => {
  it("sees that those offered stay longer, though no page reports", () => {
    const found = stayingOf({ offered: visitors(3000, 1, 0.6), withheld: visitors(3000, 2) });
    expect(found?.value).toBeCloseTo(Math.log(3.6 / 3), 1);
    expect(found?.low).toBeGreaterThan(0);
  });

  it("sees nothing where nobody stays longer", () => {
    const found = stayingOf({ offered: visitors(3000, 1), withheld: visitors(3000, 2) });
    expect(found?.low).toBeLessThan(0);
    expect(found?.high).toBeGreaterThan(0);
  });

  it("is nothing of few clients", () => {
    expect(stayingOf({ offered: visitors(99, 1), withheld: visitors(3000, 2) })).toBeUndefined();
  });
});

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
