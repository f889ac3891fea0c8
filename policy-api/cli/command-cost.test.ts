import { expect, it } from "vitest";
import { person } from "./testing.ts";

it("prints a month's bill by item, with the prices' date, and asks no server", async () => {
  const anna = await person();
  const { code, out, err } = await anna.does("cost --page-views 100M", 100);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^item +a page +a month +included +price\n/);
  expect(out).toMatch(/^invocations +1\.00 +100,000,000 +10,000,000 +\$27\.00$/m);
  expect(out).toMatch(
    /^\$\d+\.\d\d a month for 100,000,000 page views: the plan's \$5, and what goes beyond what it includes\.\nA worker that only passes pages on: \$33\.40\.$/m,
  );
  expect(out).toMatch(/Prices of\s\d{4}-\d\d-\d\d:\n {2}https:/);
  expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(anna.api.requests).toEqual([]);
});

it("adds what reports cost", async () => {
  const anna = await person();
  const total = async (typed: string): Promise<number> =>
    (JSON.parse((await anna.does(typed)).out) as { total: number }).total;
  const plain = await total("cost --page-views 100M --json");
  expect(await total("cost --page-views 100M --reports --json")).toBeGreaterThan(plain);
});

it.each([
  ["2500000", 2_500_000],
  ["800k", 800_000],
  ["2.5M", 2_500_000],
  ["1G", 1e9],
])("reads %s", async (typed, pageViews) => {
  const anna = await person();
  expect(JSON.parse((await anna.does(`cost --json --page-views ${typed}`)).out)).toMatchObject({ pageViews });
});

it.each(["0", "1e6", "12 M", "2T", "many"])("refuses %s, and says what it wants", async (typed) => {
  const anna = await person();
  const { code, err } = await anna.does(["cost", "--page-views", typed]);
  expect(code).toBe(2);
  expect(err).toContain("--page-views must be a number such as 2500000, 800k or 2.5M");
});

it("prints three totals where no page views are given", async () => {
  const anna = await person();
  const { code, out } = await anna.does("cost --reports", 100);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^page views a month +price a month .*\n +1,000,000 +\$5\.\d\d .*\n +10,000,000 .*\n +100,000,000 +\$\d+\.\d\d +\$33\.40$/m,
  );
  expect(out).toMatch(/Prices of\s\d{4}-\d\d-\d\d:\n {2}https:/);
});

it("says what is stored, and that subrequests have no price", async () => {
  const anna = await person();
  const { out } = await anna.does("cost --page-views 100M", 100);
  expect(out).toMatch(/^stored, GB +\S+ +\d[.\d]* +5 +\$0\.00$/m);
  expect(out).toContain("subrequests, which are not billed");
});
