import { describe, expect, it } from "vitest";
import { pagesAhead, returnsWithin } from "./visit.ts";

describe("pagesAhead", () => {
  it.each([
    ["visits of one page", [1], 0, 0],
    ["visits of three: two follow the first; two later pages, after which 1 and 0 follow", [0, 0, 1], 2, 0.5],
    ["half of one page, half of three", [0.5, 0, 0.5], 1, 0.5],
  ])("%s", (_name, pages, first, later) => {
    expect(pagesAhead({ pages, returns: [] })).toEqual({ first, later });
  });
});

describe("returnsWithin", () => {
  const visit = { pages: [1], returns: [{ afterS: 600, share: 0.2 }] };
  it.each([
    [60, 0],
    [600, 0.1],
    [3_600, 0.2],
  ])("of a fifth after about ten minutes, within %d s", (maS, expected) => {
    expect(returnsWithin(visit, maS)).toBeCloseTo(expected, 3);
  });

  it("adds up several", () => {
    const twice = { ...visit, returns: [...visit.returns, { afterS: 60, share: 0.3 }] };
    expect(returnsWithin(twice, 3_600)).toBeCloseTo(0.5, 3);
  });
});
