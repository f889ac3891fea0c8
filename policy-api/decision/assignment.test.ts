import { describe, expect, it } from "vitest";
import { ASSIGNMENT_MS, periodAt } from "./assignment.ts";
import { MA_MAX_S } from "./policy.ts";
import { HOUR_MS } from "./testing.ts";

describe("the period of assignment", () => {
  it("is longer by a day than any offer lives: each period has a day without an offer of the one before", () => {
    expect(ASSIGNMENT_MS).toBeGreaterThanOrEqual(MA_MAX_S * 1000 + 24 * HOUR_MS);
  });

  it("holds all its moments, and the next one begins where it ends", () => {
    const beginMs = 10_000 * ASSIGNMENT_MS;
    const moments = [
      beginMs - 1,
      beginMs,
      beginMs + 47 * HOUR_MS,
      beginMs + ASSIGNMENT_MS - 1,
      beginMs + ASSIGNMENT_MS,
    ];
    expect(moments.map(periodAt)).toEqual([9_999, 10_000, 10_000, 10_000, 10_001]);
  });
});
