import type { Values } from "../analysis/tables/template.ts";
import { type Place, placeId } from "../experiments/browser-page/settings.ts";
import { EARLY_BYTES, isEarly } from "../experiments/browser-page/slow-start.ts";
import { type BrowserGroup, type BrowserSummary, findGroup } from "../experiments/browser-page/summary.ts";
import { publishedTable } from "../experiments/browser-page/tables.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, percent, size, withInterval } from "../analysis/tables/format.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { claimed } from "./claimed.ts";

/** Of summary.json, what the page shows of browser-page. */
export type RecordedBrowser = Pick<BrowserSummary, "command" | "browser" | "places" | "groups" | "connections">;

export function browserValues(recorded: RecordedBrowser): Values {
  const { command, browser, places } = recorded;
  const at = (place: string, arm: string, navigation: number, page = "page"): BrowserGroup => {
    const found = findGroup(recorded, place, page, arm, navigation);
    if (found === undefined) throw new Error(`There is no ${arm} in ${place} (${page}, ${navigation}).`);
    return found;
  };
  const ratio = (place: string, arm: string, navigation: number, page?: string): string =>
    ratioText(at(place, arm, navigation, page).loadRatio);
  const ms = (place: string, arm: string, navigation: number): string =>
    number(at(place, arm, navigation).loadMs.estimate);
  return {
    version: browser,
    published: publishedTable(recorded, "repeated visits"),
    arms: armsTable(recorded, places),
    command: command,
    wiredPage: ratio("wired-cubic", "fixed-h3", 2),
    wiredDocument: ratio("wired-cubic", "fixed-h3", 2, "document"),
    wiredImages: ratio("wired-cubic", "fixed-h3", 2, "images"),
    unlimitedPage: ratio("unlimited-cubic", "fixed-h3", 2),
    unlimitedDocument: ratio("unlimited-cubic", "fixed-h3", 2, "document"),
    unlimitedImages: ratio("unlimited-cubic", "fixed-h3", 2, "images"),
    distantFirstOverH3: percent(at("distant-cubic", "always-offer", 1).resourcesH3),
    wiredFirstOverH3: percent(at("wired-cubic", "always-offer", 1).resourcesH3),
    distantFirst: ratio("distant-cubic", "always-offer", 1),
    wiredFirst: ratio("wired-cubic", "always-offer", 1),
    distantH2Ms: ms("distant-cubic", "fixed-h2", 3),
    distantOfferedMs: ms("distant-cubic", "always-offer", 3),
    lossyH2Ms: ms("lossy-cubic", "fixed-h2", 3),
    lossyOfferedMs: ms("lossy-cubic", "always-offer", 3),
    lossyBbrH2Ms: ms("lossy-bbr", "fixed-h2", 3),
    lossyBbrOfferedMs: ms("lossy-bbr", "always-offer", 3),
    distantAdaptiveMs: ms("distant-cubic", "adaptive", 3),
    lossyAdaptiveMs: ms("lossy-cubic", "adaptive", 3),
    lossyBbrAdaptiveMs: ms("lossy-bbr", "adaptive", 3),
    distantOverH3: percent(at("distant-cubic", "adaptive", 3).documentsH3),
    lossyOverH3: percent(at("lossy-cubic", "adaptive", 3).documentsH3),
    lossyBbrOverH3: percent(at("lossy-bbr", "adaptive", 3).documentsH3),
    oneSlowVisit: claimed(at("distant-cubic", "adaptive", 3).slow === 1, "one slow visit"),
    adaptiveMedianMs: number(at("distant-cubic", "adaptive", 3).loadMedianMs),
    offeredMedianMs: number(at("distant-cubic", "always-offer", 3).loadMedianMs),
    earlyBytes: size(EARLY_BYTES),
    slowStarts: slowStartsText(recorded.connections),
  };
}

/** `0 of 60 connections of 1 browser, and in 12 of 60 of 3 at a time` */
function slowStartsText({ slowStarts }: RecordedBrowser["connections"]): string {
  return slowStarts
    .map(({ browsers, connections }, i) => {
      const early = `${connections.filter(isEarly).length} of ${connections.length}`;
      return i === 0 ? `${early} connections of ${browsers} browser` : `in ${early} of ${browsers} at a time`;
    })
    .join(", and ");
}

function armsTable(recorded: RecordedBrowser, places: readonly Place[]): string {
  const far = places.filter(({ arms }) => arms.includes("adaptive"));
  return figuresTable(
    ["", "arm", "first visit: ms", "h2 / this", "repeated: ms", "h2 / this", "repeated: LCP ms"],
    far.flatMap((place) =>
      place.arms.map((arm) => {
        const [first, last] = [1, place.pausesMs.length + 1].map((navigation) =>
          findGroup(recorded, placeId(place), "page", arm, navigation),
        );
        return [
          placeId(place),
          arm,
          number(first?.loadMs.estimate),
          ratioText(first?.loadRatio),
          number(last?.loadMs.estimate),
          ratioText(last?.loadRatio),
          number(last?.lcpMs?.estimate),
        ];
      }),
    ),
  );
}

function ratioText(ratio: Interval | undefined): string {
  return ratio === undefined ? "" : withInterval(ratio);
}
