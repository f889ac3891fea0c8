import { describe, expect, it } from "vitest";
import { seededRandom } from "../statistics/random.ts";
import { crossValidate, type Gain, OURS } from "./cross-validation.ts";

const RTTS = [5, 30, 100, 300];
const LOSSES = [0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05];
const places = (gainAt: (rttMs: number, lossRatio: number) => number): Gain[] =>
  [1e5, 1e6].flatMap((contentBytes) =>
    RTTS.flatMap((rttMs) =>
      LOSSES.map((lossRatio) => ({ rttMs, lossRatio, contentBytes, gain: gainAt(rttMs, lossRatio), se: 0.01 })),
    ),
  );
const regretsOf = (gains: readonly Gain[]) =>
  Object.fromEntries(
    crossValidate(gains, seededRandom(1, "test")).map(({ form, regretPoints }) => [form, regretPoints]),
  );

describe("crossValidate", () => {
  it("one bit is enough where HTTP/3 gains everywhere", () => {
    expect(Object.values(regretsOf(places(() => 0.2)))).toEqual([0, 0, 0, 0, 0]);
  });

  it("a zero line is enough where one divides the places", () => {
    const regrets = regretsOf(places((_rttMs, lossRatio) => (Math.log(lossRatio + 0.0005) > -6 ? 0.3 : -0.1)));
    expect(regrets["a zero line"]).toBeLessThan(2);
    expect(regrets["one bit"]).toBeGreaterThan(3);
  });

  it("the table wins where gains change their sign twice", () => {
    const regrets = regretsOf(places((rttMs) => (rttMs === 30 || rttMs === 100 ? 0.3 : -0.3)));
    expect(regrets[OURS]).toBeLessThan(regrets["a zero line"] ?? 0);
  });

  it("compares with ours, pair by pair", () => {
    const [, , , , ours] = crossValidate(
      places(() => -0.1),
      seededRandom(1, "test"),
    );
    expect(ours).toMatchObject({ form: OURS, regretPoints: 0, aboveOurs: { estimate: 0, low: 0, high: 0 } });
  });
});
