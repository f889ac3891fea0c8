import { describe, expect, it } from "vitest";
import { billOf, countCallsAPage, policyCallsAPage } from "./bill.ts";

const COUNTED = {
  invocations: 1,
  lookUps: 1,
  records: 1,
  alarms: 0,
  rowsWritten: 2,
  subrequests: 4,
  bytesPerClient: 10_000,
};
const RATE = 100e6 / (30 * 86_400) / 200;
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
    // 200 isolates ask for the policy in groups of four, and send counts; nine regions' alarms ring every 8 s.
    ["calls of objects", (200 + 100 * policyCallsAPage(4 * RATE) + 100 * countCallsAPage(RATE) + 2.916 - 1) * 0.15],
    // Nine regions' counters, every 8 s, with an alarm each.
    ["rows written", 150 + 2 * 2.916],
    ["rows read", 0],
    // A third as many clients as pages, for 73 hours.
    ["stored, GB", (((100 / 3) * 10 * 73) / 720 - 5) * 0.2],
  ])("asks for what is beyond: %s", (name, price) => {
    expect(priceOf(100e6, name)).toBeCloseTo(price, 9);
  });

  it.each([
    ["nearly one each where pages are rare", 1e-5, 1, 1],
    ["one in 16 s", 1, 1 / 16, 1 / 61],
    ["one in 15 s and one in a minute where pages are many", 1e3, 1 / 15_000, 1 / 60_000],
  ])("a page causes questions for the policy and messages of counts: %s", (_name, rate, policy, counts) => {
    expect(policyCallsAPage(rate)).toBeCloseTo(policy, 3);
    expect(countCallsAPage(rate)).toBeCloseTo(counts, 3);
  });

  it("adds all of it up", () => {
    const { items, total } = billOf(COUNTED, 100e6);
    expect(total).toBeCloseTo(5 + items.reduce((sum, { price }) => sum + price, 0), 9);
  });
});
