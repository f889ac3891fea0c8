import { isFar } from "../experiments/browser-page/settings.ts";
import { EARLY_BYTES, isEarly } from "../experiments/browser-page/slow-start.ts";
import { type BrowserGroup, type BrowserSummary, findGroup } from "../experiments/browser-page/summary.ts";
import { publishedTable, ratioText, visitsOf } from "../experiments/browser-page/tables.ts";
import { number, percent, size, withInterval } from "../analysis/tables/format.ts";
import { tableOf } from "../analysis/tables/table-of.ts";
import type { OffersSummary } from "../experiments/offers/findings.ts";
import { changesTable } from "../experiments/offers/report.ts";
import { known } from "./recorded.ts";

/** What is wanted of the policy on the distant path: the third visit within 3 % of always-offer's. */
const DISTANT_WITHIN = 1.03;

export function browserValues(recorded: BrowserSummary) {
  const at = (place: string, arm: string, navigation: number, page = "page"): BrowserGroup =>
    known(findGroup(recorded, place, page, arm, navigation), `${arm} in ${place} (${page}, ${navigation})`);
  const besideOf = (place: string, arm: string): number =>
    at(place, "adaptive", 3).loadMs.estimate / at(place, arm, 3).loadMs.estimate;
  return {
    version: recorded.browser,
    published: publishedTable(recorded),
    arms: armsTable(recorded),
    command: recorded.command,
    /** HTTP/2's mean over this arm's. */
    ratio: (place: string, arm: string, navigation: number, page?: string) =>
      withInterval(at(place, arm, navigation, page).loadRatio),
    /** All files over HTTP/3, over the same files from a host without it. */
    files: (place: string, navigation: number, page?: string) =>
      withInterval(
        known(at(place, "files-h2", navigation, page).loadRatioToH3, `fixed-h3 beside files-h2 in ${place}`),
      ),
    /** Of the third visit. */
    ms: (place: string, arm: string) => number(at(place, arm, 3).loadMs.estimate),
    /** The third visit under the policy over this arm's. */
    beside: (place: string, arm: string) => number(besideOf(place, arm)),
    documentsH3: (place: string) => percent(at(place, "adaptive", 3).documentsH3),
    firstOverH3: (place: string) => percent(at(place, "always-offer", 1).resourcesH3),
    distantText:
      besideOf("distant-cubic", "always-offer") <= DISTANT_WITHIN
        ? ""
        : `: more than the ${number(DISTANT_WITHIN)} that are wanted`,
    earlyBytes: size(EARLY_BYTES),
    slowStarts: slowStartsText(recorded.connections),
  };
}

/** What an offer changes, page by page. */
export function offersValues(summary: OffersSummary) {
  const { command, rows, late, groups } = summary;
  const shares = (page: number): number[] =>
    groups.flatMap((one) => (one.treatment === "first" && one.page === page ? one.filesH3 : []));
  const range = (page: number): string =>
    `${percent(Math.min(...shares(page)))} to ${percent(Math.max(...shares(page)))}`;
  return { command, rows, late, changes: changesTable(summary, "first"), first: range(1), next: range(2) };
}

/** `0 of 60 connections of 1 browser, and in 12 of 60 of 3 at a time` */
function slowStartsText({ slowStarts }: BrowserSummary["connections"]): string {
  return slowStarts
    .map(({ browsers, connections }, i) => {
      const early = `${connections.filter(isEarly).length} of ${connections.length}`;
      return i === 0 ? `${early} connections of ${browsers} browser` : `in ${early} of ${browsers} at a time`;
    })
    .join(", and ");
}

/** Of the places where something is to be decided. */
function armsTable(recorded: BrowserSummary): string {
  return tableOf(visitsOf({ ...recorded, places: recorded.places.filter(isFar) }), [
    ["", ({ first }) => first.place],
    ["arm", ({ first }) => first.arm],
    ["first visit: ms", ({ first }) => number(first.loadMs.estimate)],
    ["h2 / this", ({ first }) => ratioText(first.loadRatio)],
    ["repeated: ms", ({ last }) => number(last.loadMs.estimate)],
    ["h2 / this", ({ last }) => ratioText(last.loadRatio)],
    ["repeated: LCP ms", ({ last }) => number(last.lcpMs?.estimate)],
  ]);
}
