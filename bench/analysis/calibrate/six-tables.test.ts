import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../base/root.ts";
import { type Figure, figuresOf } from "../../../policy-api/visitors/figures.ts";
import { betweenStacks, correlation } from "../../../policy-api/visitors/posterior.ts";
import { LOAD_ROW } from "../../model/load-row.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { placesOf, stacksOf } from "../senders/places.ts";
import { gainTableOf } from "./calibrate.ts";

// What a learnt policy expects of a stack that nobody has measured (policy-api/visitors/posterior.ts), beside the six that were measured.

const places = placesOf(rowsIn(join(ROOT, "bench/results/senders"), LOAD_ROW));
const TABLES = stacksOf(places).flatMap((stack) => {
  const tabled = gainTableOf(places, stack, () => ({ log: 0, se: 1 }));
  return "table" in tabled ? [tabled.table] : [];
});
const [TABLE] = TABLES as [(typeof TABLES)[number]];
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

describe("the six measured tables", () => {
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
