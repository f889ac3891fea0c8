import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { BROWSER_PAGES } from "../../model/browser-pages.ts";
import { PUBLISHED_BROWSER } from "./published.ts";
import { isFar, lastOf, type Place, placeId } from "./settings.ts";
import { type BrowserGroup, type BrowserSummary, findGroup } from "./summary.ts";

type Groups = Pick<BrowserSummary, "places" | "groups">;

/** `20 Mbit/s, RTT 30 ms, loss 2 %, TCP with bbr` */
export function networkText({ network: { rateMbps, delayMs, lossRatio }, congestion }: Place): string {
  const path = rateMbps >= 10_000 ? "no limit but the machine" : `${rateMbps} Mbit/s, RTT ${2 * delayMs} ms`;
  return `${path}${lossRatio > 0 ? `, loss ${lossRatio * 100} %` : ""}, TCP with ${congestion}`;
}

/** Repeated visits on fast lines beside the published ones. @param title of the pages */
export function publishedTable(summary: Groups, title = "page"): string {
  const measured = (place: Place): Column<(typeof PUBLISHED_BROWSER)[number]>[] => {
    const of = (page: string, arm: string): BrowserGroup | undefined =>
      findGroup(summary, placeId(place), page, arm, lastOf(place));
    return [
      [`${place.network.name}: h2 ms`, ({ page }) => number(of(page, "fixed-h2")?.loadMs.estimate)],
      ["h3 ms", ({ page }) => number(of(page, "fixed-h3")?.loadMs.estimate)],
      ["h2 / h3", ({ page }) => ratioText(of(page, "fixed-h3")?.loadRatio)],
    ];
  };
  return tableOf(PUBLISHED_BROWSER, [
    [title, ({ about }) => about],
    ["published: h2 ms", ({ h2Ms }) => number(h2Ms)],
    ["h3 ms", ({ h3Ms }) => number(h3Ms)],
    ["h2 / h3", ({ h2Ms, h3Ms }) => number(h2Ms / h3Ms)],
    ...summary.places.filter((place) => !isFar(place)).flatMap(measured),
  ]);
}

/** The first and the last navigation of each place and arm, on the same page. */
export function visitsOf(summary: Groups): { first: BrowserGroup; last: BrowserGroup }[] {
  return summary.places.flatMap((place) =>
    place.arms.flatMap((arm) => {
      const of = (navigation: number): BrowserGroup | undefined =>
        findGroup(summary, placeId(place), "page", arm, navigation);
      const [first, last] = [of(1), of(lastOf(place))];
      return first === undefined || last === undefined ? [] : [{ first, last }];
    }),
  );
}

export function visitsTable(summary: Groups): string {
  return tableOf(visitsOf(summary), [
    ["", ({ first }) => first.place],
    ["arm", ({ first }) => first.arm],
    ["first: load ms", ({ first }) => withInterval(first.loadMs)],
    ["h2 / this", ({ first }) => ratioText(first.loadRatio)],
    ["first: LCP ms", ({ first }) => number(first.lcpMs?.estimate)],
    ["repeated: load ms", ({ last }) => withInterval(last.loadMs)],
    ["h2 / this", ({ last }) => ratioText(last.loadRatio)],
    ["repeated: LCP ms", ({ last }) => number(last.lcpMs?.estimate)],
    ["files over HTTP/3, first", ({ first }) => percent(first.resourcesH3)],
    ["repeated", ({ last }) => percent(last.resourcesH3)],
  ]);
}

/** What a host of files without HTTP/3 gains, where a DNS record brings browsers to HTTP/3 and HTTP/2 is faster. */
export function filesTable(summary: Groups): string {
  const moved = summary.groups.filter(({ arm, page }) => arm === "files-h2" && BROWSER_PAGES[page].length > 0);
  const besides =
    (arm: string) =>
    ({ place, page, navigation }: BrowserGroup): string =>
      number(findGroup(summary, place, page, arm, navigation)?.loadMs.estimate);
  return tableOf(moved, [
    ["", ({ place }) => place],
    ["page", ({ page }) => page],
    ["visit", ({ navigation }) => String(navigation)],
    ["all over HTTP/3, ms", besides("fixed-h3")],
    ["files over HTTP/2, ms", ({ loadMs }) => number(loadMs.estimate)],
    ["all / files", ({ loadRatioToH3 }) => ratioText(loadRatioToH3)],
    ["all over HTTP/2, ms", besides("fixed-h2")],
  ]);
}

export function allTable({ groups }: Groups): string {
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
    ["LCP ms", ({ lcpMs }) => (lcpMs === undefined ? "-" : withInterval(lcpMs))],
    ["h2 / this", ({ lcpRatio }) => ratioText(lcpRatio)],
    ["first byte ms", ({ ttfbMs }) => number(ttfbMs)],
    ["connecting ms", ({ connectMs }) => number(connectMs)],
    ["documents over HTTP/3", ({ documentsH3 }) => percent(documentsH3)],
    ["documents offered it", ({ offered }) => percent(offered)],
    ["busiest core", ({ busyMedian }) => percent(busyMedian)],
    ["packets late", ({ lateMedian }) => percent(lateMedian)],
  ]);
}

/** Repeated visits of a browser on the paths where something is to be decided: for the README. */
export function browserReadmeTable(summary: Groups): string {
  const repeated =
    (arm: string) =>
    (place: Place): string => {
      const group = findGroup(summary, placeId(place), "page", arm, lastOf(place));
      return group === undefined ? "-" : withInterval(group.loadMs);
    };
  return tableOf(summary.places.filter(isFar), [
    [
      "path",
      ({ network: { rateMbps, delayMs, lossRatio }, congestion }) =>
        `${rateMbps} Mbit/s, RTT ${2 * delayMs} ms, loss ${lossRatio * 100} %, ${congestion}`,
    ],
    ["HTTP/2 only, ms", repeated("fixed-h2")],
    ["HTTP/3 offered to all", repeated("always-offer")],
    ["adaptive", repeated("adaptive")],
  ]);
}

export function ratioText(ratio: Interval | undefined): string {
  return ratio === undefined ? "" : withInterval(ratio);
}
