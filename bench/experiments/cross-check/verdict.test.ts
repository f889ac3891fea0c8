import { describe, expect, it } from "vitest";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { exampleRow } from "./testing.ts";
import { agrees, findingOf } from "./verdict.ts";

describe("agrees", () => {
  it.each([
    ["holds 1", { estimate: 1.2, low: 0.95, high: 1.5 }, true],
    ["ends at 1", { estimate: 0.8, low: 0.7, high: 1 }, true],
    ["narrow and near", { estimate: 1.049, low: 1.04, high: 1.06 }, true],
    ["narrow and near from below", { estimate: 0.951, low: 0.94, high: 0.96 }, true],
    ["narrow and apart", { estimate: 1.06, low: 1.05, high: 1.07 }, false],
    ["unknown", { estimate: Number.NaN, low: Number.NaN, high: Number.NaN }, false],
  ])("%s", (_, ratio, expected) => {
    expect(agrees(ratio)).toBe(expected);
  });
});

describe("findingOf", () => {
  const random = seededRandom(1, "times");
  const times = (centre: number) => Array.from({ length: 12 }, () => centre + 40 * random());
  const rowsOf = (client: "ours" | "theirs", values: readonly number[]) =>
    values.map((loadMs, round) => exampleRow({ client, loadMs, round }));

  it("compares loads that count, and no others", () => {
    const rows = [
      ...rowsOf("ours", times(500)),
      ...rowsOf("theirs", times(500)),
      exampleRow({ loadMs: 9_000, dropped: "busy" }),
      exampleRow({ loadMs: Number.NaN, outcome: "timeout", dropped: "busy" }),
      exampleRow({ loadMs: 9_000, protocol: "h3" }),
      exampleRow({ loadMs: 9_000, setting: "far" }),
    ];
    const finding = findingOf("near", "h2", rows, 1);
    expect(finding).toMatchObject({ verdict: "agrees", ours: { n: 12, dropped: 1, failed: 1 }, theirs: { n: 12 } });
    expect(finding.ratio.estimate).toBeCloseTo(1, 1);
    expect(findingOf("near", "h2", rows, 1)).toEqual(finding);
  });

  it("sees a difference, and which way it points", () => {
    const { verdict, ratio } = findingOf(
      "near",
      "h2",
      [...rowsOf("ours", times(500)), ...rowsOf("theirs", times(600))],
      1,
    );
    expect(verdict).toBe("differs");
    expect(ratio.low).toBeGreaterThan(1.1);
  });

  it("says nothing of one load", () => {
    expect(findingOf("near", "h2", [...rowsOf("ours", [500, 510]), ...rowsOf("theirs", [500])], 1).verdict).toBe(
      "short",
    );
  });
});
