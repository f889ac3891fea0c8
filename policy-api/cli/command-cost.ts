import { ASSUMED, billOf, PRICES_FROM, PRICES_READ } from "./cost/bill.ts";
import { COUNTED } from "./cost/counted.ts";
import type { Command } from "./command.ts";
import { misused } from "./failure.ts";
import { count, roughly } from "./quantities.ts";
import { table } from "./table.ts";

export const COST: Command = {
  name: "cost",
  usage: "--page-views N [--reports]",
  summary: "What a month on Cloudflare costs, by item. Needs no server.",
  details: `N is the page views of a month that pass the worker, such as 2500000, 2.5M or 100M. --reports adds
exploration by 4 % of the clients and reports by 5 %.

What a page calls for was counted in workerd, with visits of three pages by clients that nobody
knows, at one of four isolates at random. The prices are those of the Workers Paid plan that
Cloudflare's documentation had on ${PRICES_READ}. Free requests of images and files do not count, as
they should not pass the worker.`,
  options: ["page-views", "reports"],
  run({ options: { "page-views": pageViews, reports = false }, columns }) {
    if (pageViews === undefined) throw misused("--page-views says how many page views a month has, such as 100M.");
    const bill = billOf(COUNTED[reports ? "reporting" : "plain"], pageViews);
    const rows = bill.items.map(({ name, perPage, perMonth, included, price }) => [
      name,
      perPage.toPrecision(2),
      roughly(perMonth),
      count(included),
      dollars(price),
    ]);
    const text = [
      table(["item", "a page", "a month", "included", "price"], rows, columns),
      "",
      `${dollars(bill.total)} a month for ${count(pageViews)} page views, with the plan's $5.`,
      `A worker that only passes pages on: ${dollars(bill.passingOn)}.`,
      "",
      `Assumed, as nobody has measured it on Cloudflare: ${ASSUMED.cpuMs} ms of CPU an invocation, ${ASSUMED.callMs} ms that a call ` +
        `keeps its object awake, and ${ASSUMED.isolates} isolates that are busy all the time. Old rows go by dropping their table, which ` +
        `workerd counts as no row. Prices of ${PRICES_READ}:`,
      ...PRICES_FROM.map((url) => `  ${url}`),
    ].join("\n");
    return { text, json: { pageViews, ...bill, assumed: ASSUMED, pricesRead: PRICES_READ, pricesFrom: PRICES_FROM } };
  },
};

/** `$12`, `$0.40`. */
function dollars(price: number): string {
  return `$${price >= 10 ? price.toFixed(0) : price.toFixed(2)}`;
}
