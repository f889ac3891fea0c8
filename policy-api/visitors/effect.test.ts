import { describe, expect, it } from "vitest";
import { effectOf } from "./effect.ts";
import { add, type Sums } from "./sums.ts";
import { clientDay, drawnArms, drawnDays, report, sumOf } from "./testing.ts";

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
    expect(effect?.explained).toBeGreaterThan(0.5);
    const blind = (days: ReturnType<typeof drawnDays>): Sums =>
      sumOf(days.map((day) => ({ ...day, load: { ...day.load, predicted: 0 } })));
    const unadjusted = effectOf({
      offered: blind(drawnDays({ clients: 2000 })),
      withheld: blind(drawnDays({ clients: 2000, seed: 2 })),
    });
    expect(unadjusted?.explained).toBe(0);
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
