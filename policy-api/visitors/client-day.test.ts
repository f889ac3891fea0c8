import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../decision/parse.ts";
import { addDecided, addReport, EMPTY_DAY, PAGES_MAX, REACH, REACH_FIXED, readClientDay, SCALE } from "./client-day.ts";
import { clientDay, report } from "./testing.ts";

describe("addReport", () => {
  it.each([
    ["as expected", 1000, 0, 0],
    ["twice as long", 2000, Math.log(2), 0],
    ["half as long", 500, -Math.log(2), 0],
    ["at the bound", 4000, Math.log(4), 0],
    ["beyond the bound", 60_000, Math.log(4), 1],
    ["below the bound", 1, -Math.log(4), 1],
  ])("counts a page that took %s", (_name, ms, log, atBound) => {
    const { load, decided } = clientDay([report(ms)]);
    expect(load.logs / SCALE).toBeCloseTo(log, 3);
    expect(load).toMatchObject({ pages: 1, predicted: 0, overH3: 0, atBound });
    expect(decided).toBe(1);
  });

  it("counts ln(expected time) beside ln(time)", () => {
    const { load } = clientDay([report(3000, { load: { ms: 3000, expectedMs: 2000 } })]);
    expect(load.predicted / SCALE).toBeCloseTo(Math.log(2), 3);
    expect(load.logs / SCALE).toBeCloseTo(Math.log(3), 3);
  });

  it("keeps the largest contentful paint apart, with its own expected time", () => {
    const day = clientDay([report(1000, { lcp: { ms: 400, expectedMs: 800 }, overH3: true }), report(1000)]);
    expect(day.lcp).toMatchObject({ pages: 1, overH3: 1 });
    expect(day.lcp.logs / SCALE).toBeCloseTo(Math.log(0.4), 3);
    expect(day.load).toMatchObject({ pages: 2, overH3: 1 });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 3_600_001])("takes %d ms for no time", (ms) => {
    const day = addDecided(EMPTY_DAY);
    expect(addReport(day, report(ms))).toBeUndefined();
    expect(addReport(day, report(1000, { lcp: { ms, expectedMs: 1000 } }))).toBeUndefined();
    expect(addReport(day, report(1000, { load: { ms: 1000, expectedMs: ms } }))).toBeUndefined();
  });

  it("takes no more reports than pages were decided about", () => {
    expect(addReport(EMPTY_DAY, report(1000))).toBeUndefined();
    expect(addReport(clientDay([report(1000)]), report(1000))).toBeUndefined();
  });

  it("never lets a page count for more than the bound, whatever it says", () => {
    const times = fc.double({ min: 1e-3, max: 3_600_000, noNaN: true });
    const expected = fc.double({ min: 1, max: 3_600_000, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(times, expected), { maxLength: 20 }), (pages) => {
        const { load } = clientDay(pages.map(([ms, expectedMs]) => report(ms, { load: { ms, expectedMs } })));
        expect(Math.abs(load.logs - load.predicted)).toBeLessThanOrEqual(REACH_FIXED * load.pages);
      }),
    );
    expect(REACH).toBeCloseTo(1.386, 3);
  });
});

it("stops at a thousand pages", () => {
  let day = EMPTY_DAY;
  for (let page = 0; page < PAGES_MAX + 5; page++) day = addDecided(day);
  expect(day.decided).toBe(PAGES_MAX);
});

describe("readClientDay", () => {
  it("reads back what was stored", () => {
    const day = clientDay([report(700), report(90_000, { overH3: true, lcp: { ms: 5, expectedMs: 900 } })], 3);
    expect(parse(readClientDay, JSON.parse(JSON.stringify(day)))).toEqual({ ok: true, value: day });
  });

  it.each([
    ["/decided", { ...EMPTY_DAY, decided: -1 }],
    ["/load/pages", { ...EMPTY_DAY, load: { ...EMPTY_DAY.load, pages: 1.5 } }],
    ["/load/pages", { ...EMPTY_DAY, decided: 1, load: { ...EMPTY_DAY.load, pages: 2 } }],
    ["/lcp/pages", { ...EMPTY_DAY, decided: 1, lcp: { ...EMPTY_DAY.lcp, pages: 1 } }],
    ["/lcp/logs", { ...EMPTY_DAY, lcp: { ...EMPTY_DAY.lcp, logs: 1e12 } }],
    ["/lcp", { decided: 1, load: EMPTY_DAY.load }],
  ])("names the fault at %s", (pointer, row) => {
    const read = parse(readClientDay, row);
    expect(read.ok ? [] : read.faults.map((fault) => fault.pointer)).toContain(pointer);
  });
});
