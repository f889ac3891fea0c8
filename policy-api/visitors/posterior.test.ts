import cubic from "../policies/cubic.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import type { GainsMethod } from "../decision/policy.ts";
import { figuresOf, indexOf } from "./figures.ts";
import { type Beliefs, posterior, stackPrior, varianceOf } from "./posterior.ts";

/** Figures that differ independently. */
const independent = (means: readonly number[], deviations: readonly number[]): Beliefs => ({
  means,
  covariance: means.map((_, i) => means.map((__, j) => (i === j ? (deviations[i] ?? 0) ** 2 : 0))),
});

describe("posterior", () => {
  it("weighs prior and evidence by their certainty", () => {
    const prior = independent([0], [0.5]);
    const { means, covariance } = posterior(prior, [{ weights: [[0, 1]], value: 0.5, variance: 0.25 }]);
    expect(means[0]).toBeCloseTo(0.25, 12);
    expect(covariance[0]?.[0]).toBeCloseTo(0.125, 12);
    expect(prior.means).toEqual([0]);
  });

  it("changes a figure of a mixture by its share, and leaves the others", () => {
    const mixed = [
      [0, 0.75],
      [1, 0.25],
    ] as const;
    const prior = independent([0, 0.2, 1], [0.1, 0.1, 0.1]);
    const { means, covariance } = posterior(prior, [{ weights: mixed, value: 0.3, variance: 0.01 }]);
    // Expected 0.05, surprise 0.25, its variance 0.01 (0.5625 + 0.0625) + 0.01 = 0.01625.
    expect(means[0]).toBeCloseTo((0.0075 * 0.25) / 0.01625, 12);
    expect(means[1]).toBeCloseTo(0.2 + (0.0025 * 0.25) / 0.01625, 12);
    expect(means[2]).toBe(1);
    expect(covariance[2]?.[2]).toBeCloseTo(0.01, 12);
    // What is known of the sum makes its parts depend on each other.
    expect(covariance[0]?.[1]).toBeLessThan(0);
  });

  it("moves a figure that nobody observed as far as it goes along with another", () => {
    const prior: Beliefs = {
      means: [0, 0],
      covariance: [
        [0.04, 0.03],
        [0.03, 0.09],
      ],
    };
    const { means, covariance } = posterior(prior, [{ weights: [[0, 1]], value: 0.2, variance: 0.04 }]);
    expect(means).toEqual([expect.closeTo(0.1, 12), expect.closeTo((0.03 / 0.08) * 0.2, 12)]);
    expect(covariance[1]?.[1]).toBeCloseTo(0.09 - 0.03 ** 2 / 0.08, 12);
  });

  it("does not ask for the order of evidence", () => {
    const prior = independent([0, 0.2], [0.14, 0.32]);
    const a = {
      weights: [
        [0, 0.7],
        [1, 0.3],
      ] as const,
      value: 0.4,
      variance: 0.02,
    };
    const b = { weights: [[1, 1]] as const, value: -0.1, variance: 0.05 };
    const [first, second] = [posterior(prior, [a, b]), posterior(prior, [b, a])];
    for (const i of [0, 1]) {
      expect(first.means[i]).toBeCloseTo(second.means[i] ?? 0, 12);
      for (const j of [0, 1]) expect(first.covariance[i]?.[j]).toBeCloseTo(second.covariance[i]?.[j] ?? 0, 12);
    }
  });

  it("leaves a prior without any doubt as it is", () => {
    const prior = independent([0.3], [0]);
    expect(posterior(prior, [{ weights: [[0, 1]], value: 5, variance: 0 }])).toEqual(prior);
  });
});

describe("varianceOf", () => {
  it("is that of a weighted sum", () => {
    const figures: Beliefs = {
      means: [0, 0],
      covariance: [
        [0.04, -0.01],
        [-0.01, 0.09],
      ],
    };
    const sum = [
      [0, 2],
      [1, 1],
    ] as const;
    expect(varianceOf(figures, sum)).toBeCloseTo(4 * 0.04 + 2 * 2 * -0.01 + 0.09, 12);
  });
});

const { table: TABLE } = cubic.method as unknown as GainsMethod;
const FIGURES = figuresOf(TABLE);
const gains = FIGURES.flatMap((figure, index) => (figure.part === "price" ? [] : [{ figure, index }]));

describe("stackPrior", () => {
  it("expects what the table says, and is not surer than it was measured", () => {
    const { means, covariance } = stackPrior(TABLE, FIGURES);
    for (const [i, { value, se }] of FIGURES.entries()) {
      expect(means[i]).toBe(value);
      expect(covariance[i]?.[i]).toBeGreaterThanOrEqual(0.999 * se ** 2);
    }
  });

  it("has the price apart from gains", () => {
    const { covariance } = stackPrior(TABLE, FIGURES);
    const price = indexOf(TABLE, { part: "price", size: 0, loss: 0, rtt: 1 });
    expect(FIGURES[price]).toMatchObject({ part: "price", rtt: 1 });
    expect(covariance[price]?.slice(0, gains.length)).toEqual(gains.map(() => 0));
  });
});

it("indexOf finds each figure where figuresOf has it", () => {
  for (const [index, figure] of FIGURES.entries()) expect(indexOf(TABLE, figure)).toBe(index);
});
