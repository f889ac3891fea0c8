import { expect, it } from "vitest";
import { parsePeriodKey, periodKey } from "./period-keys.ts";

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
