import stored from "./interval-vectors.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import { SCALE } from "./client-day.ts";
import { effectOf } from "./effect.ts";
import { type Arms, type Estimate, reachAfter } from "./intervals.ts";
import { combined, momentsOf, noMoments } from "./moments.ts";
import { sampleRatioOf } from "./sample-ratio.ts";
import { NO_SUMS, type Sums } from "./sums.ts";

// What other statistics say of the same rows. bench/analysis/field-statistics/make-vectors.py made them, at the commit with the
// tag experiments-complete.

type Rows = readonly (readonly [pages: number, logs: number, predicted: number, overH3: number])[];
interface Compared extends Estimate {
  readonly rows: Arms<Rows>;
}

const vectors = stored as unknown as {
  readonly about: { readonly scale: number };
  readonly ratio: Compared;
  readonly adjusted: Compared;
  readonly boundary: readonly { clients: number; alpha: number; tunedTo: number; reach: number }[];
  readonly sampleRatio: readonly { offered: number; withheld: number; share: number; logEvidence: number }[];
};

/** @param knowsPredicted Whether the predicted times are among the sums, or 0 */
function gainOf({ rows }: Compared, knowsPredicted: boolean): Estimate | undefined {
  const of = (arm: Rows): Sums => ({
    ...NO_SUMS,
    load: arm.reduce(
      (sum, [pages, logs, predicted, overH3]) =>
        combined(sum, momentsOf([pages, logs, knowsPredicted ? predicted : 0, overH3, 0])),
      noMoments(5),
    ),
  });
  return effectOf({ offered: of(rows.offered), withheld: of(rows.withheld) })?.gain;
}

it("has the parts that the sums have", () => {
  expect(vectors.about.scale).toBe(SCALE);
});

// gbstats: GrowthBook's statistics. Its RatioStatistic is the delta method's, its SequentialTwoSidedTTest equation 9.
describe("the gain", () => {
  it.each([
    ["of clients with several pages, by gbstats' ratio of sums", vectors.ratio, false],
    ["adjusted for the predicted time, by gbstats' regression", vectors.adjusted, true],
  ])("%s", (_name, vector, knowsPredicted) => {
    const gain = gainOf(vector, knowsPredicted);
    for (const figure of ["value", "se", "low", "high"] as const)
      expect(gain?.[figure]).toBeCloseTo(vector[figure], 10);
    // The rows are no degenerate case.
    expect(vector.se).toBeGreaterThan(0.01);
  });
});

describe("the reach of an interval that holds at every look", () => {
  it.each(vectors.boundary)(
    "is confseq's normal mixture after $clients clients, alpha $alpha, tuned to $tunedTo",
    ({ clients, alpha, tunedTo, reach }) => {
      expect(reachAfter(clients, alpha, tunedTo)).toBeCloseTo(reach, 9);
    },
  );
});

describe("the evidence against a draw", () => {
  it.each(vectors.sampleRatio)(
    "of $offered and $withheld at $share is SciPy's",
    ({ share, logEvidence, ...counts }) => {
      expect(sampleRatioOf(counts, share).logEvidence).toBeCloseTo(logEvidence, 7);
    },
  );
});
