import { describe, expect, it } from "vitest";
import { type FirstPage, priceFrom } from "./price.ts";

/** First pages at an RTT: these times with an offer, and these without. */
const at = (rttMs: number, offered: readonly number[], never: readonly number[]): FirstPage[] => [
  ...offered.map((loadMs) => ({ rttMs, isOffered: true, loadMs })),
  ...never.map((loadMs) => ({ rttMs, isOffered: false, loadMs })),
];
/** A page takes a fifth longer at 10 ms, and as long at 1,000. */
const PAGES = [...at(1_000, [390, 410], [380, 420]), ...at(10, [118, 122], [99, 101])];

describe("priceFrom", () => {
  const priceAt = priceFrom(PAGES);

  it("is ln(a page's mean time with the offer / without) where both were measured", () => {
    expect(priceAt(10).log).toBeCloseTo(Math.log(1.2), 12);
    expect(priceAt(1_000).log).toBeCloseTo(0, 12);
    // Both errors count: deviations of the square root of 8 around 120, and of 2 around 100.
    expect(priceAt(10).se).toBeCloseTo(Math.hypot(Math.sqrt(8) / 120, Math.sqrt(2) / 100) / Math.sqrt(2), 12);
  });

  it("is less than 0 where pages with the offer are faster", () => {
    expect(priceFrom(at(10, [80, 80], [100, 100]))(10).log).toBeCloseTo(Math.log(0.8), 12);
  });

  it("is linear between two, in the RTT's logarithm", () => {
    expect(priceAt(100).log).toBeCloseTo(Math.log(1.2) / 2, 12);
    expect(priceAt(100).se).toBeCloseTo(Math.hypot(priceAt(10).se, priceAt(1_000).se) / 2, 12);
    const prices = [10, 20, 50, 200, 700, 1_000].map((rttMs) => priceAt(rttMs).log);
    expect(prices).toEqual(prices.toSorted((a, b) => b - a));
  });

  it("goes through each one that was measured, however many there are", () => {
    const three = priceFrom([...PAGES, ...at(100, [150, 150], [100, 100])]);
    expect(three(100).log).toBeCloseTo(Math.log(1.5), 12);
    expect(three(10).log).toBeCloseTo(Math.log(1.2), 12);
    expect(three(1_000).log).toBeCloseTo(0, 12);
  });

  it.each([
    ["nearer", 0.1, 10],
    ["at no distance", 0, 10],
    ["farther", 1e5, 1_000],
  ])("is the nearest one's outside of them: %s", (_name, rttMs, nearest) => {
    expect(priceAt(rttMs)).toEqual(priceAt(nearest));
  });

  it("does not depend on the pages' order", () => {
    const turned = priceFrom(PAGES.toReversed());
    for (const rttMs of [5, 10, 77, 1_000]) expect(turned(rttMs).log).toBeCloseTo(priceAt(rttMs).log, 12);
  });

  it("leaves out an RTT where one page of a kind says nothing of the spread", () => {
    const lone = priceFrom([...PAGES, ...at(100, [900], [100, 100]), ...at(200, [900, 900], [100])]);
    expect(lone(100)).toEqual(priceAt(100));
    expect(lone(200)).toEqual(priceAt(200));
  });

  it("of no pages knows nothing: no price, and any", () => {
    expect(priceFrom([])(50)).toEqual({ log: 0, se: 1 });
    expect(priceFrom(at(10, [120, 120], []))(50)).toEqual({ log: 0, se: 1 });
  });
});
