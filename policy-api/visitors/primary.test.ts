import { describe, expect, it } from "vitest";
import { primaryOf } from "./primary.ts";
import { clientDay, drawnArms, drawnDays, report, sumOf } from "./testing.ts";

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
