import { armBars, type ArmTime } from "../../analysis/charts/arm-bars.ts";
import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean, median } from "../../analysis/statistics/summary.ts";
import { number, percent, size, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { onceEach, runValues, summaryHead } from "../../harness/machine.ts";
import { type Arm, ARM_SETUPS } from "../../model/arm.ts";
import { BROWSER_PAGES, browserBytes, type BrowserPage, PAGE_TIMEOUT_MS } from "../../model/browser-pages.ts";
import type { Network } from "../../model/cell.ts";
import type { Congestion } from "../../model/congestion.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { BROWSER_COLUMNS } from "../../model/visit-row.ts";

/** One navigation of a browser: its id names place, page, arm, visit and navigation. */
export const BROWSER_ROW = {
  ...BROWSER_COLUMNS,
  place: string(),
  page: string<BrowserPage>(),
  arm: string<Arm>(),
  /** Within the visit: 1 is the first visit, of a browser that knows nothing of the site. */
  navigation: float,
  /** What the page loaded beside the document, by protocol. */
  resourcesH2: optionalFloat,
  resourcesH3: optionalFloat,
} as const satisfies RowSchema;

export type BrowserRow = RowOf<typeof BROWSER_ROW>;

/** Where browsers load pages, and how often. */
export interface BrowserPlace {
  readonly network: Network;
  readonly congestion: Congestion;
  readonly pages: readonly BrowserPage[];
  readonly arms: readonly Arm[];
  /** Of each page and arm. */
  readonly visits: number;
  /** Between two navigations of a visit. */
  readonly pausesMs: readonly number[];
  /** Its loads keep the machine busy, so that nothing may run beside. */
  readonly isAlone: boolean;
}

export function placeId({ network: { name }, congestion }: Pick<BrowserPlace, "network" | "congestion">): string {
  return `${name}-${congestion}`;
}

/** Whether it is a path where something is to be decided, of which nothing was published. */
function isFar({ arms }: BrowserPlace): boolean {
  return arms.includes("adaptive");
}

/** The number of the last navigation of a visit: of a browser that knows the site. */
export function lastOf({ pausesMs }: BrowserPlace): number {
  return pausesMs.length + 1;
}

/** Of each page and protocol. */
export const PUBLISHED_LOADS = 50;

/** Published (browser-page): a site behind CloudFront, a browser's developer tools, cache off; 900 Mbit/s, for images 350. */
const PUBLISHED: readonly { page: BrowserPage; about: string; h2Ms: number; h3Ms: number }[] = [
  { page: "page", about: "15 requests, 1.9 MB", h2Ms: 99.26, h3Ms: 99.1 },
  { page: "document", about: "the document alone", h2Ms: 4.88, h3Ms: 6.08 },
  { page: "images", about: "six large images, 21.7 MB", h2Ms: 472.76, h3Ms: 889.98 },
];

export type BrowserSummary = ReturnType<typeof browserSummary>;
/** All navigations of one number, of one arm, page and place. Times in milliseconds; intervals of 95 %. */
export type BrowserGroup = ReturnType<typeof groupOf>[number];
type Groups = Pick<BrowserSummary, "places" | "groups">;

export function browserSummary(
  run: Pick<Recorded<unknown, BrowserRow>, "rows" | "command" | "starts">,
  places: readonly BrowserPlace[],
  seed: number,
) {
  const rows = onceEach(run.rows);
  const { command, day, starts, ...counted } = summaryHead(run, rows);
  return { command, day, seed, starts, places, ...counted, groups: groupsOf(places, rows, seed) };
}

export function groupsOf(places: readonly BrowserPlace[], rows: readonly BrowserRow[], seed: number): BrowserGroup[] {
  const groups = Map.groupBy(rows, ({ place, page, arm, navigation }) => [place, page, arm, navigation].join(" "));
  return linesOf(places).flatMap(({ place, page, arm, navigation }) => {
    const of = (one: Arm): BrowserRow[] => groups.get([placeId(place), page, one, navigation].join(" ")) ?? [];
    return groupOf(of(arm), arm === "fixed-h2" ? [] : of("fixed-h2"), arm === "files-h2" ? of("fixed-h3") : [], seed);
  });
}

function linesOf(places: readonly BrowserPlace[]) {
  return places.flatMap((place) =>
    place.pages.flatMap((page) =>
      place.arms.flatMap((arm) =>
        Array.from({ length: lastOf(place) }, (_, i) => ({ place, page, arm, navigation: i + 1 })),
      ),
    ),
  );
}

/** @param besideH2 the same navigations of `fixed-h2`, @param besideH3 of `fixed-h3`, where this arm is set beside them */
function groupOf(
  rows: readonly BrowserRow[],
  besideH2: readonly BrowserRow[],
  besideH3: readonly BrowserRow[],
  seed: number,
) {
  const [first] = rows;
  const times = valuesOf(rows, "loadMs");
  if (first === undefined || times.length === 0) return [];
  const { place, page, arm, navigation } = first;
  const random = seededRandom(seed, "browser", place, page, arm, navigation);
  const paints = valuesOf(rows, "lcpMs");
  const ratio = (beside: readonly BrowserRow[], field: "loadMs" | "lcpMs"): Interval | undefined => {
    const [a, b] = [valuesOf(beside, field), valuesOf(rows, field)];
    return a.length < 2 || b.length < 2 ? undefined : ratioOfMeansInterval(a, b, { random });
  };
  const filesOver = (field: "resourcesH2" | "resourcesH3") => valuesOf(rows, field).reduce((sum, one) => sum + one, 0);
  const ok = rows.filter(({ outcome }) => outcome === "ok");
  const share = (is: (row: BrowserRow) => boolean) => (ok.length === 0 ? 0 : ok.filter(is).length / ok.length);
  return [
    {
      place,
      page,
      arm,
      navigation,
      n: ok.length,
      failures: rows.filter(({ outcome }) => outcome === "failed").length,
      timeouts: rows.filter(({ outcome }) => outcome === "timeout").length,
      loadMs: meanInterval(times, { random }),
      loadMedianMs: median(times),
      /** Loads that took over twice the median. */
      slow: times.filter((ms) => ms > 2 * median(times)).length,
      lcpMs: paints.length === 0 ? undefined : meanInterval(paints, { random }),
      ttfbMs: mean(valuesOf(rows, "ttfbMs")),
      connectMs: mean(valuesOf(rows, "connectMs")),
      /** fixed-h2's mean load time over this one's, of the same navigation: above 1 this is faster. */
      loadRatio: ratio(besideH2, "loadMs"),
      /** Likewise of the largest contentful paint. */
      lcpRatio: ratio(besideH2, "lcpMs"),
      /** Of `files-h2`: fixed-h3's mean load time over this one's. */
      loadRatioToH3: ratio(besideH3, "loadMs"),
      documentsH3: share(({ documentProtocol }) => documentProtocol === "h3"),
      /** Of what a page loaded beside its document; NaN, in a file null, where there was nothing. */
      resourcesH3: filesOver("resourcesH3") / (filesOver("resourcesH2") + filesOver("resourcesH3")),
      /** Documents that were offered HTTP/3, of all. */
      offered: share(({ answer }) => answer === "offer"),
      /** Likewise NaN or null where nothing was read. */
      busyMedian: median(valuesOf(rows, "busyRatio")),
      lateMedian: median(valuesOf(rows, "lateRatio")),
    },
  ];
}

type NumberField = { [K in keyof BrowserRow]: BrowserRow[K] extends number | null ? K : never }[keyof BrowserRow];

function valuesOf(rows: readonly BrowserRow[], field: NumberField): number[] {
  return rows.flatMap((row) => row[field] ?? []);
}

export function findGroup(
  { groups }: Pick<BrowserSummary, "groups">,
  place: string,
  page: string,
  arm: string,
  navigation: number,
): BrowserGroup | undefined {
  return groups.find(
    (one) => one.place === place && one.page === page && one.arm === arm && one.navigation === navigation,
  );
}

export function browserReport(summary: BrowserSummary): Report {
  const { day, starts, places, rows, failures, timeouts } = summary;
  return {
    values: {
      ...runValues(summary),
      day,
      // Earlier starts did not note the version.
      browser: ["Chromium", starts.at(-1)?.tools?.["chromium"]].join(" ").trim(),
      networks: places
        .map((place) => `\`${placeId(place)}\` (${networkText(place)}; ${place.visits} visits of each page and arm)`)
        .join(", "),
      pages: PUBLISHED.map(
        ({ page }) => `\`${page}\` has ${BROWSER_PAGES[page].length + 1} requests and ${size(browserBytes(page))}`,
      ).join(", "),
      rows,
      failures,
      timeouts,
      timeoutS: PAGE_TIMEOUT_MS / 1_000,
      publishedLoads: PUBLISHED_LOADS,
      hasAllVisits: places.every(({ visits }) => visits >= PUBLISHED_LOADS),
      arms: [...new Set(places.flatMap(({ arms }) => arms))].map((name) => ({ name, about: ARM_SETUPS[name].about })),
      published: publishedTable(summary),
      all: allTable(summary),
    },
    pictures: [{ file: "far.svg", spec: armBars(barsOf(summary), { title: "Distant and lossy paths: page load" }) }],
  };
}

/** `20 Mbit/s, RTT 30 ms, loss 2 %, TCP with bbr` */
function networkText({ network: { rateMbps, delayMs, lossRatio }, congestion }: BrowserPlace): string {
  const path = rateMbps >= 10_000 ? "no limit but the machine" : `${rateMbps} Mbit/s, RTT ${2 * delayMs} ms`;
  return `${path}${lossRatio > 0 ? `, loss ${lossRatio * 100} %` : ""}, TCP with ${congestion}`;
}

/** Repeated visits on fast lines beside the published ones. */
function publishedTable(summary: Groups): string {
  const measured = (place: BrowserPlace): Column<(typeof PUBLISHED)[number]>[] => {
    const of = (page: string, arm: string) => findGroup(summary, placeId(place), page, arm, lastOf(place));
    return [
      [`${place.network.name}: h2 ms`, ({ page }) => number(of(page, "fixed-h2")?.loadMs.estimate)],
      ["h3 ms", ({ page }) => number(of(page, "fixed-h3")?.loadMs.estimate)],
      ["h2 / h3", ({ page }) => ratioText(of(page, "fixed-h3")?.loadRatio)],
    ];
  };
  return tableOf(PUBLISHED, [
    ["page", ({ about }) => about],
    ["published: h2 ms", ({ h2Ms }) => number(h2Ms)],
    ["h3 ms", ({ h3Ms }) => number(h3Ms)],
    ["h2 / h3", ({ h2Ms, h3Ms }) => number(h2Ms / h3Ms)],
    ...summary.places.filter((place) => !isFar(place)).flatMap(measured),
  ]);
}

function allTable({ groups }: Groups): string {
  return tableOf(groups, [
    ["", ({ place }) => place],
    ["page", ({ page }) => page],
    ["arm", ({ arm }) => arm],
    ["visit", ({ navigation }) => String(navigation)],
    ["n", ({ n }) => String(n)],
    ["failed", ({ failures }) => String(failures)],
    ["timeouts", ({ timeouts }) => String(timeouts)],
    ["load ms", ({ loadMs }) => withInterval(loadMs)],
    ["median", ({ loadMedianMs }) => number(loadMedianMs)],
    ["over twice it", ({ slow }) => String(slow)],
    ["h2 / this", ({ loadRatio }) => ratioText(loadRatio)],
    ["LCP ms", ({ lcpMs }) => withInterval(lcpMs)],
    ["h2 / this", ({ lcpRatio }) => ratioText(lcpRatio)],
    ["fixed-h3 / this", ({ loadRatioToH3 }) => ratioText(loadRatioToH3)],
    ["first byte ms", ({ ttfbMs }) => number(ttfbMs)],
    ["connecting ms", ({ connectMs }) => number(connectMs)],
    ["documents over HTTP/3", ({ documentsH3 }) => percent(documentsH3)],
    ["files over it", ({ resourcesH3 }) => percent(resourcesH3)],
    ["documents offered it", ({ offered }) => percent(offered)],
    ["busiest core", ({ busyMedian }) => percent(busyMedian)],
    ["packets late", ({ lateMedian }) => percent(lateMedian)],
  ]);
}

function ratioText(ratio: Interval | undefined): string {
  return ratio === undefined ? "" : withInterval(ratio);
}

/** First and repeated visits where nothing was published. */
function barsOf(summary: Groups): ArmTime[] {
  return summary.places.filter(isFar).flatMap((place) =>
    [1, lastOf(place)].flatMap((visit) =>
      place.arms.flatMap((arm) => {
        const found = findGroup(summary, placeId(place), "page", arm, visit)?.loadMs;
        if (found === undefined) return [];
        const network = `${placeId(place)}, ${visit === 1 ? "first" : "repeated"}`;
        const highMs = Math.min(found.high, 10 * found.estimate);
        return [{ network, arm, loadMs: found.estimate, lowMs: found.low, highMs }];
      }),
    ),
  );
}
