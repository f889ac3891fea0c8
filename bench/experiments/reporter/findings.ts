import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { normalQuantile } from "../../analysis/statistics/normal.ts";
import { proportion } from "../../analysis/statistics/proportion.ts";
import { mean, median } from "../../analysis/statistics/summary.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { lastDay, machineText } from "../../harness/machine-text.ts";
import { PAGES, type Place, type Protocol, PROTOCOLS, type ReporterRow } from "./settings.ts";

/** Reported load times agree with the bench's clock within this. */
const CLOCK_WITHIN = 0.05;
/** The price's interval is within this of none. */
const PRICE_WITHIN = 0.02;

export function reporterSummary(
  { rows: all, command, starts }: Pick<Recorded<unknown, ReporterRow>, "rows" | "command" | "starts">,
  places: readonly Place[],
) {
  // A run that was killed between two rows of a visit has made it again.
  const rows = [...new Map(all.map((row) => [row.id, row])).values()].filter(({ outcome }) => outcome === "ok");
  const of = (place: Place, protocol: Protocol): ReporterRow[] =>
    rows.filter((row) => row.network === place.network.name && row.protocol === protocol);
  const each = <Found>(those: readonly Place[], find: (own: ReporterRow[]) => Found) =>
    those.flatMap((place) =>
      PROTOCOLS.map((protocol) => ({ network: place.network.name, protocol, ...find(of(place, protocol)) })),
    );
  return {
    command,
    day: lastDay(all),
    starts,
    rows: all.length,
    failed: all.filter(({ outcome }) => outcome !== "ok").length,
    told: each(
      places.filter(({ waits }) => waits),
      told,
    ),
    prices: each(
      places.filter(({ waits }) => !waits),
      priceOf,
    ),
  };
}

/** What reports say, beside what the path and the bench's clock say. */
function told(own: readonly ReporterRow[]) {
  // The last page of a visit tells of the whole connection but for its own end.
  const last = own.filter(
    ({ page, reportedSent, reportedLost }) => page === PAGES && reportedSent !== null && reportedLost !== null,
  );
  const sum = (of: (row: ReporterRow) => number | null): number => last.reduce((all, row) => all + (of(row) ?? 0), 0);
  const reported = proportion(
    sum(({ reportedLost }) => reportedLost),
    sum(({ reportedSent }) => reportedSent),
  );
  const dropped = sum(({ pathDropped }) => pathDropped);
  const path = dropped / (sum(({ pathDown }) => pathDown) + dropped);
  const timed = own.flatMap(({ reportedLoadMs, clockMs }) =>
    reportedLoadMs === null || clockMs === null ? [] : [{ reportedLoadMs, clockMs }],
  );
  return {
    pages: own.length,
    reports: own.filter(({ reportedLoadMs }) => reportedLoadMs !== null).length,
    connections: last.length,
    reported,
    path,
    isLossTrue: reported.n === 0 ? undefined : reported.low <= path && path <= reported.high,
    /** The reported load time over the bench's. */
    clock: mean(timed.map(({ reportedLoadMs }) => reportedLoadMs)) / mean(timed.map(({ clockMs }) => clockMs)),
    loadMs: mean(timed.map(({ clockMs }) => clockMs)),
  };
}

/** What reporting costs a page's load. */
function priceOf(own: readonly ReporterRow[]) {
  const pairs = [...Map.groupBy(own, ({ visit }) => visit).values()].flatMap((pair) => {
    const plain = pair.find(({ asked }) => asked === "plain");
    const reporting = pair.find(({ asked }) => asked === "reporting");
    return plain === undefined || reporting === undefined ? [] : [{ plain, reporting }];
  });
  const difference = (of: (row: ReporterRow) => number | null): number =>
    mean(pairs.map(({ plain, reporting }) => (of(reporting) ?? 0) - (of(plain) ?? 0)));
  const longest = (of: "plain" | "reporting"): number => median(pairs.map((pair) => pair[of].longestTaskMs ?? 0));
  return {
    pairs: pairs.length,
    loadMs: mean(pairs.map(({ plain }) => plain.loadMs ?? 0)),
    price: pairedRatio(pairs.flatMap(({ plain: { loadMs: a }, reporting: { loadMs: b } }) => (a && b ? [[b, a]] : []))),
    moreBytes: difference(({ resourceBytes }) => resourceBytes),
    longestTaskMs: { plain: longest("plain"), reporting: longest("reporting") },
  };
}

/** Geometric mean of a / b over pairs, with the normal interval of 95 % of its logarithm. */
export function pairedRatio(pairs: readonly (readonly [a: number, b: number])[]): Interval | undefined {
  if (pairs.length < 2) return undefined;
  const logs = pairs.map(([a, b]) => Math.log(a / b));
  const centre = mean(logs);
  const variance = logs.reduce((sum, log) => sum + (log - centre) ** 2, 0) / (logs.length - 1);
  const reach = normalQuantile(0.975) * Math.sqrt(variance / logs.length);
  return { estimate: Math.exp(centre), low: Math.exp(centre - reach), high: Math.exp(centre + reach) };
}

type Summary = ReturnType<typeof reporterSummary>;
type Told = Summary["told"][number];
type Price = Summary["prices"][number];

const verdict = (holds: boolean | undefined): string => (holds === undefined ? "-" : holds ? "yes" : "**no**");

export function isFree({ price }: Pick<Price, "price">): boolean | undefined {
  if (price === undefined) return undefined;
  const { low, high } = price;
  return low <= 1 && 1 <= high && high - 1 <= PRICE_WITHIN && 1 - low <= PRICE_WITHIN;
}

export function reporterReport({ command, day, starts, rows, failed, told: found, prices }: Summary): Report {
  const reports = tableOf(found, [
    ["network", ({ network }) => network],
    ["over", ({ protocol }) => protocol],
    ["pages", ({ pages }) => String(pages)],
    ["reports", ({ reports: count }) => String(count)],
    ["connections", ({ connections }) => String(connections)],
    [
      "reported lost",
      ({ reported }: Told) => `${percent(reported.share)} (${percent(reported.low)} to ${percent(reported.high)})`,
    ],
    ["dropped by the path", ({ path }) => percent(path)],
    ["within", ({ isLossTrue }) => verdict(isLossTrue)],
    ["load, ms", ({ loadMs }) => number(loadMs)],
    ["reported / clock", ({ clock }) => number(clock)],
    ["within", ({ clock }) => verdict(Number.isNaN(clock) ? undefined : Math.abs(clock - 1) <= CLOCK_WITHIN)],
  ]);
  const price = tableOf(prices, [
    ["network", ({ network }) => network],
    ["over", ({ protocol }) => protocol],
    ["pairs", ({ pairs }) => String(pairs)],
    ["load without, ms", ({ loadMs }) => number(loadMs)],
    ["load with / without", ({ price: ratio }: Price) => withInterval(ratio)],
    ["free", (one) => verdict(isFree(one))],
    ["more bytes", ({ moreBytes }) => number(moreBytes)],
    [
      "longest task without and with, ms",
      ({ longestTaskMs: { plain, reporting } }) => `${number(plain)}, ${number(reporting)}`,
    ],
  ]);
  const machine = machineText(starts);
  return {
    values: {
      command,
      day,
      machine,
      rows,
      failed,
      // A run may have asked one question alone.
      truth: found.length === 0 ? undefined : { reports, clockWithin: percent(CLOCK_WITHIN) },
      price: prices.length === 0 ? undefined : { pairs: price, within: percent(PRICE_WITHIN) },
    },
  };
}
