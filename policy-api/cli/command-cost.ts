import { ASSUMED, billOf, PRICES_FROM, PRICES_READ } from "./cost/bill.ts";
import { COUNTED } from "./cost/counted.ts";
import type { Command } from "./command.ts";
import { count } from "./quantities.ts";
import { table } from "./table.ts";

export const COST: Command = {
  name: "cost",
  usage: "[--page-views N] [--reports]",
  summary: "What a month on Cloudflare costs, by item. Needs no server.",
  details: `N is the page views of a month that pass the worker, such as 2500000, 2.5M or 100M. Without it the totals of
1M, 10M and 100M are printed. --reports adds exploration by 4 % of the clients and reports by 5 %.

What a page calls for was counted in workerd, with visits of three pages by clients that nobody
knows, at one of four isolates at random. The prices are those of the Workers Paid plan that
Cloudflare's documentation had on ${PRICES_READ}. Requests of images and files do not count, as they
should not pass the worker. What the worker itself asks, its subrequests, is not billed as requests.`,
  options: ["page-views", "reports"],
  run({ options: { "page-views": pageViews, reports = false }, columns }) {
    const counted = COUNTED[reports ? "reporting" : "plain"];
    const json = { assumed: ASSUMED, pricesRead: PRICES_READ, pricesFrom: PRICES_FROM };
    const basis = [
      `Assumed, as nobody has measured it on Cloudflare: ${ASSUMED.cpuMs} ms of CPU an invocation, ${ASSUMED.callMs} ms that a call ` +
        `keeps its object awake, and ${ASSUMED.isolates} isolates, ${ASSUMED.isolatesOfADataCentre} in a data centre. Old rows go by dropping ` +
        `their table, which workerd counts as no row. Prices of ${PRICES_READ}:`,
      ...PRICES_FROM.map((url) => `  ${url}`),
    ];
    if (pageViews === undefined) {
      const bills = USUAL.map((some) => ({ pageViews: some, ...billOf(counted, some) }));
      const rows = bills.map((bill) => [count(bill.pageViews), dollars(bill.total), dollars(bill.passingOn)]);
      const head = ["page views a month", "price a month", "of which passing pages on"];
      const text = [table(head, rows, columns), "", "--page-views prints a bill by item.", "", ...basis].join("\n");
      return { text, json: { bills, ...json } };
    }
    const bill = billOf(counted, pageViews);
    const rows = bill.items.map(({ name, perPage, perMonth, included, price }) => [
      name,
      // Stored bytes are of a client, for three days.
      perPage < 1e-4 ? undefined : perPage.toPrecision(3),
      count(Number(perMonth.toPrecision(3))),
      count(included),
      dollars(price),
    ]);
    const text = [
      table(["item", "a page", "a month", "included", "price"], rows, columns),
      "",
      `${dollars(bill.total)} a month for ${count(pageViews)} page views: the plan's $5, and what goes beyond what it includes.`,
      `A worker that only passes pages on: ${dollars(bill.passingOn)}.`,
      `A page makes about ${Math.round(counted.subrequests)} subrequests, which are not billed as requests of the worker.`,
      "",
      ...basis,
    ].join("\n");
    return { text, json: { pageViews, subrequestsAPage: counted.subrequests, ...bill, ...json } };
  },
};

/** Page views a month. */
const USUAL = [1e6, 10e6, 100e6] as const;

/** `$12.30`, `$0.40`, `$120`. */
function dollars(price: number): string {
  return `$${price >= 100 ? price.toFixed(0) : price.toFixed(2)}`;
}
