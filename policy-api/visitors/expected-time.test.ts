import { describe, expect, it } from "vitest";
import { pageDecision } from "./testing-pages.ts";
import { TIME_MAX_MS } from "./client-day.ts";
import { comparedWith, expectedTimes } from "./expected-time.ts";
import { ACCURACY, addTime, EMPTY_SKETCH, type Sketch } from "./quantiles.ts";

const pagesOf = (count: number, ms: number): Sketch =>
  Array.from({ length: count }, () => ms).reduce(addTime, EMPTY_SKETCH);

describe("comparedWith", () => {
  it.each([
    [0, "rtt/0"],
    [29.9, "rtt/1"],
    [30, "rtt/2"],
    [500, "rtt/4"],
    [undefined, "all"],
  ])("compares a page at %s ms with those of %s", (rttMs, key) => {
    expect(comparedWith({ rttMs })).toBe(key);
  });
});

describe("expectedTimes", () => {
  const page = { rttMs: 50, contentBytes: 2_500_000 };

  it("is a plain model before anything is known", () => {
    expect(expectedTimes(page, undefined)).toEqual({ loadMs: 1600, lcpMs: 1600 });
    expect(expectedTimes({ ...page, rttMs: undefined }, undefined)).toEqual({ loadMs: 1600, lcpMs: 1600 });
    expect(expectedTimes({ ...page, rttMs: 150 }, undefined).loadMs).toBe(2200);
  });

  it("is the median of the pages before once there are twenty, for load and LCP each by itself", () => {
    const of = (loads: number, lcps: number) =>
      expectedTimes(page, { load: pagesOf(loads, 9000), lcp: pagesOf(lcps, 70) });
    expect(of(19, 19)).toEqual({ loadMs: 1600, lcpMs: 1600 });
    const { loadMs, lcpMs } = of(20, 19);
    expect(Math.abs(loadMs - 9000) / 9000).toBeLessThanOrEqual(ACCURACY);
    expect(lcpMs).toBe(1600);
    expect(Math.abs(of(20, 20).lcpMs - 70) / 70).toBeLessThanOrEqual(ACCURACY);
  });

  it("is a time that can be, whatever the page is", () => {
    for (const rttMs of [0, 3_600_000])
      for (const contentBytes of [0, 1, 1e15])
        for (const before of [undefined, { load: pagesOf(20, 3_600_000), lcp: pagesOf(20, 0.01) }])
          for (const ms of Object.values(expectedTimes({ rttMs, contentBytes }, before))) {
            expect(ms).toBeGreaterThanOrEqual(1);
            expect(ms).toBeLessThanOrEqual(TIME_MAX_MS);
          }
  });

  it("does not depend on the arm, on what was advertised or on the version", () => {
    const before = { load: pagesOf(30, 800), lcp: pagesOf(30, 500) };
    const offered = pageDecision({ arm: "offer", advertised: "h3", policyVersion: 4 });
    const withheld = pageDecision({ arm: "withhold", advertised: "nothing" });
    expect(expectedTimes(offered, before)).toEqual(expectedTimes(withheld, before));
    expect(comparedWith(offered)).toBe(comparedWith(withheld));
  });
});
