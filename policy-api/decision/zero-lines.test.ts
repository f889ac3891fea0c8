import { describe, expect, it } from "vitest";
import type { ZeroLine } from "./policy.ts";
import { clientWith } from "./testing.ts";
import { isBeyondZeroLine } from "./zero-lines.ts";

/** At a larger RTT less loss is enough. Without RTT no loss is enough. */
const FAST: ZeroLine = { deliveryRateBps: 25e6, rttMs: [0, 10, 50], lossRatio: [1.5, 0.04, 0.02] };
const SLOW: ZeroLine = { deliveryRateBps: 1e6, rttMs: [0], lossRatio: [0] };

describe("isBeyondZeroLine", () => {
  const cases: [string, readonly ZeroLine[], number, number, number, boolean][] = [
    ["above the line at one of its points", [FAST], 10, 0.041, 25e6, true],
    ["on it", [FAST], 10, 0.04, 25e6, true],
    ["below it", [FAST], 10, 0.039, 25e6, false],
    ["between two points, above", [FAST], 30, 0.0301, 25e6, true],
    ["between two points, below", [FAST], 30, 0.0299, 25e6, false],
    ["beyond the last point as at it", [FAST], 500, 0.02, 25e6, true],
    ["beyond the last point, below", [FAST], 500, 0.019, 25e6, false],
    [
      "before the first point as at it",
      [{ ...FAST, rttMs: [5, 10, 50], lossRatio: [0.1, 0.04, 0.02] }],
      1,
      0.1,
      1,
      true,
    ],
    ["where the line is above 1 no loss is enough", [FAST], 0, 1, 25e6, false],
    ["the line nearest in the logarithm of the rate: the slow one", [FAST, SLOW], 0, 0, 4.9e6, true],
    ["the line nearest in the logarithm of the rate: the fast one", [FAST, SLOW], 0, 0, 5.1e6, false],
    ["in whatever order they stand", [SLOW, FAST], 0, 0, 5.1e6, false],
    ["no lines", [], 50, 1, 25e6, false],
    ["a loss that is no number", [FAST], 50, Number.NaN, 25e6, false],
    ["an RTT that is no number", [FAST], Number.NaN, 0.5, 25e6, false],
  ];
  it.each(cases)("%s", (_name, lines, rttMs, lossRatio, deliveryRateBps, expected) => {
    const history = clientWith(lossRatio, { deliveryRateBps });
    expect(isBeyondZeroLine({ lines }, {}, history, rttMs)).toBe(expected);
  });

  it("takes this connection's rate where the client's others have none, and an access line's where it has none either", () => {
    const beyond = (rateBps: number | undefined) =>
      isBeyondZeroLine({ lines: [FAST, SLOW] }, { deliveryRateBps: rateBps }, clientWith(0), 0);
    expect(beyond(1e6)).toBe(true);
    expect(beyond(25e6)).toBe(false);
    expect(beyond(undefined)).toBe(true);
  });

  it("does not know where nobody counted packets", () => {
    expect(isBeyondZeroLine({ lines: [FAST] }, {}, { state: "unknown" }, 10)).toBeUndefined();
    expect(isBeyondZeroLine({ lines: [FAST] }, {}, clientWith(0, { packets: 0 }), 10)).toBeUndefined();
  });
});
