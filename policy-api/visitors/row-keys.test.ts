import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_GAINS } from "./empty-table.ts";
import {
  type Cell,
  CELL_POSITIONS,
  cellKey,
  cellOf,
  EVERYWHERE,
  parseCellKey,
  parsePeriodKey,
  periodKey,
} from "./row-keys.ts";

const { table } = EMPTY_GAINS;

describe("cellOf", () => {
  it.each([
    ["the table's own place", 20, 1_000_000, 0.002, { rtt: 1, size: 1, loss: 2 }],
    ["before the first", 0, 1, 0, { rtt: 0, size: 0, loss: 0 }],
    ["behind the last", 60_000, 1e12, 1, { rtt: 4, size: 2, loss: 5 }],
    // Half way in the logarithm, with 1 ms added: sqrt(21 x 61) - 1 = 34.8 ms.
    ["nearer to the smaller RTT", 34, 1_000_000, 0, { rtt: 1, size: 1, loss: 0 }],
    ["nearer to the larger RTT", 36, 1_000_000, 0, { rtt: 2, size: 1, loss: 0 }],
    ["nearer to the larger size", 20, 3_300_000, 0, { rtt: 1, size: 2, loss: 0 }],
    ["what is not known", Number.NaN, Number.NaN, Number.NaN, { rtt: 0, size: 0, loss: 0 }],
  ])("is %s", (_name, rttMs, contentBytes, lossRatio, expected) => {
    expect(cellOf(table, { position: "next", rttMs, contentBytes, lossRatio })).toEqual({
      position: "next",
      ...expected,
    });
  });

  it("has no loss where nobody counts packets", () => {
    expect(cellOf(table, { position: "new", rttMs: 20, contentBytes: 1e6 })).toEqual({
      position: "new",
      rtt: 1,
      size: 1,
    });
  });
});

describe("cellKey", () => {
  const index = fc.nat(63);
  const anyCell: fc.Arbitrary<Cell> = fc.record(
    { position: fc.constantFrom(...CELL_POSITIONS), rtt: index, size: index, loss: index },
    { requiredKeys: ["position", "rtt", "size"] },
  );

  it("is read back as the same cell", () => {
    fc.assert(
      fc.property(anyCell, (cell) => {
        expect(parseCellKey(cellKey(cell))).toEqual(cell);
      }),
    );
    expect(cellKey({ position: "next", rtt: 3, size: 1 })).toBe("next/3/1/-");
  });

  it.each(["", EVERYWHERE, "next/1/2", "later/1/2/-", "next/01/2/-", "next/1/2/100", "next/1/2/-/", "next/-1/2/3"])(
    "is not %j",
    (key) => {
      expect(parseCellKey(key)).toBeUndefined();
    },
  );
});

it("reads what it writes", () => {
  expect(periodKey(10_345, 3)).toBe("during/10345/3");
  expect(parsePeriodKey(periodKey(10_345, 3))).toEqual({ period: 10_345, rttClass: 3 });
});

it.each(["all", "rtt/3", "during/3", "during/-1/3", "during/1/33", "during/1/3/", "next/3/1/-", "asn/64496"])(
  "reads nothing from %s",
  (key) => {
    expect(parsePeriodKey(key)).toBeUndefined();
  },
);
