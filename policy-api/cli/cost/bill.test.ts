import { describe, expect, it } from "vitest";
import { billOf } from "./bill.ts";

const COUNTED = { invocations: 1, lookUps: 1, records: 1, alarms: 0, rowsWritten: 2 };
const priceOf = (pageViews: number, name: string): number | undefined =>
  billOf(COUNTED, pageViews).items.find((item) => item.name === name)?.price;

describe("billOf", () => {
  it("asks for nothing but the plan while all is included", () => {
    const { items, total, passingOn } = billOf(COUNTED, 200_000);
    expect(items.map(({ price }) => price)).toEqual(items.map(() => 0));
    expect([total, passingOn]).toEqual([5, 5]);
  });

  it.each([
    // 100 million pages less 10 million that are included, at $0.30 a million, and so on.
    ["invocations", 27],
    ["CPU, ms", 1.4],
    // With 200 isolates that ask for the policy four times a minute, and tell counts three times.
    ["calls of objects", (200 + 34.56 + 25.92 - 1) * 0.15],
    // Nine regions' counters, every 8 s, with an alarm each.
    ["rows written", 150 + 2 * 2.916],
    ["rows read", 0],
  ])("asks for what is beyond: %s", (name, price) => {
    expect(priceOf(100e6, name)).toBeCloseTo(price, 9);
  });

  it("adds all of it up", () => {
    const { items, total } = billOf(COUNTED, 100e6);
    expect(total).toBeCloseTo(5 + items.reduce((sum, { price }) => sum + price, 0), 9);
  });
});
