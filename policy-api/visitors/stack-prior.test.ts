import { describe, expect, it } from "vitest";
import type { GainsMethod } from "../decision/policy.ts";
import bbr from "../policies/bbr.json" with { type: "json" };
import cubic from "../policies/cubic.json" with { type: "json" };
import quicheBbr2WithBbr from "../policies/quiche-bbr2/bbr.json" with { type: "json" };
import quicheBbr2WithCubic from "../policies/quiche-bbr2/cubic.json" with { type: "json" };
import quicheCubicWithBbr from "../policies/quiche-cubic/bbr.json" with { type: "json" };
import quicheCubicWithCubic from "../policies/quiche-cubic/cubic.json" with { type: "json" };
import { betweenStacks, correlation, stackPrior } from "./stack-prior.ts";
import { type Figure, figuresOf, indexOf } from "./figures.ts";

const TABLES = [bbr, cubic, quicheBbr2WithBbr, quicheBbr2WithCubic, quicheCubicWithBbr, quicheCubicWithCubic].map(
  ({ method }) => (method as unknown as GainsMethod).table,
);
const [TABLE] = TABLES as [GainsMethod["table"]];
const FIGURES = figuresOf(TABLE);
const VALUES = TABLES.map((table) => figuresOf(table).map(({ value }) => value));
/** By how much each table differs from the mean of all, by figure. */
const DIFFERENCES = VALUES.map((values) =>
  values.map((value, i) => value - VALUES.reduce((sum, one) => sum + (one[i] ?? 0), 0) / VALUES.length),
);
const gains = FIGURES.flatMap((figure, index) => (figure.part === "price" ? [] : [{ figure, index }]));

/** Over the tables. */
const deviation = (index: number): number =>
  Math.sqrt(DIFFERENCES.reduce((sum, table) => sum + (table[index] ?? 0) ** 2, 0) / (TABLES.length - 1));
const together = (a: number, b: number): number =>
  DIFFERENCES.reduce((sum, table) => sum + (table[a] ?? 0) * (table[b] ?? 0), 0) /
  (TABLES.length - 1) /
  deviation(a) /
  deviation(b);
const meanOf = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

describe("the six shipped tables", () => {
  it.each(["next", "return"] as const)("differ by as much as is said, in all places of a %s page", (part) => {
    const ratios = gains
      .filter(({ figure }) => figure.part === part)
      .map(({ figure, index }) => Math.log(deviation(index) / betweenStacks(TABLE, figure)));
    // One place may be off by more: a deviation of six has an error of a third.
    expect(Math.exp(meanOf(ratios))).toBeGreaterThan(0.5);
    expect(Math.exp(meanOf(ratios))).toBeLessThan(1.5);
  });

  it("differ together by as much as is said, near and far", () => {
    const pairs = gains.flatMap((a, i) => gains.slice(i + 1).map((b) => [a, b] as const));
    const apart = (a: Figure, b: Figure): string =>
      [a.part === b.part, a.size === b.size, Math.abs(a.loss - b.loss) > 2, Math.abs(a.rtt - b.rtt) > 1].join();
    const kinds = Map.groupBy(pairs, ([a, b]) => apart(a.figure, b.figure));
    for (const kind of kinds.values()) {
      const found = meanOf(kind.map(([a, b]) => together(a.index, b.index)));
      const said = meanOf(kind.map(([a, b]) => correlation(TABLE, a.figure, b.figure)));
      expect(Math.abs(found - said)).toBeLessThan(0.2);
    }
    expect(kinds.size).toBe(16);
  });
});

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
