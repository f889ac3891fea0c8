import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Cell,
  CELL_POSITIONS,
  cellKey,
  countryKey,
  EVERYWHERE,
  isRowKey,
  parseCellKey,
  parseCountryKey,
  parsePeriodKey,
  periodKey,
} from "./row-keys.ts";

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

it("has a key for what is a country", () => {
  expect(countryKey("JP")).toBe("country/JP");
  expect(parseCountryKey("country/JP")).toBe("JP");
  expect(isRowKey("country/JP")).toBe(true);
  for (const none of ["XX", "ZZ", "T1", "jp", "JPN", "J", "", "J/", "asn"]) {
    expect(countryKey(none), none).toBeUndefined();
    expect(isRowKey(`country/${none}`), none).toBe(false);
  }
});

it.each(["all", "rtt/3", "during/3", "during/-1/3", "during/1/33", "during/1/3/", "next/3/1/-", "asn/64496"])(
  "reads nothing from %s",
  (key) => {
    expect(parsePeriodKey(key)).toBeUndefined();
  },
);
