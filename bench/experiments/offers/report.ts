import { meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { lastDay, onceEach, runValues, summaryHead } from "../../harness/machine.ts";
import type { Network } from "../../model/cell.ts";
import type { Congestion } from "../../model/congestion.ts";
import { float, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { BROWSER_COLUMNS } from "../../model/visit-row.ts";

/** One page of a visit: its id names network, congestion control, treatment, visit and page. */
export const OFFER_ROW = {
  ...BROWSER_COLUMNS,
  network: string(),
  treatment: string(),
  /** From 1; the last ones are of the return. */
  page: float,
  /** A digit for each file beside the document, in the order in which they were asked for: 2 or 3, the version of HTTP. */
  files: string(),
} as const satisfies RowSchema;

export type OfferRow = RowOf<typeof OFFER_ROW>;

/** What a page's answer tells a browser. */
export type Answer = "h3" | "clear" | "none";

/** What a visit is told, and how its pages follow. */
export interface Treatment {
  readonly name: string;
  readonly about: string;
  /** One for each page of the visit and of the return. */
  readonly answers: readonly Answer[];
  readonly pauseMs: number;
  /** What it is compared with: the same pauses, and nothing offered. */
  readonly base: string;
}

/** All of it that has one network and one congestion control. */
export interface OfferPlace {
  readonly network: Network;
  readonly congestion: Congestion;
  readonly treatments: readonly Treatment[];
  /** Of each treatment. */
  readonly visits: number;
  /** How many pages come before the return; all but one unless given. */
  readonly pagesBefore?: number;
}

/** Of a visit and its return together. */
export const PAGES = 5;
/**
 * Packets that may leave the path late, of all: where more do, the page shared the cores with something else. Chromium alone
 * keeps one of them busy, so the bound is wider than that of other clients.
 */
const LATE_RATIO_MAX = 0.03;

export type OffersSummary = ReturnType<typeof offersSummary>;
type Group = NonNullable<ReturnType<typeof groupOf>>;

export function offersSummary(
  run: Pick<Recorded<unknown, OfferRow>, "rows" | "command" | "starts">,
  places: readonly OfferPlace[],
  seed: number,
) {
  const measured = onceEach(run.rows);
  const rows = measured.filter(({ lateRatio }) => (lateRatio ?? 0) <= LATE_RATIO_MAX);
  const byGroup = Map.groupBy(rows, ({ network, congestion, treatment, page }) =>
    [network, congestion, treatment, page].join("/"),
  );
  const groups = linesOf(places).flatMap(({ place: { network, congestion }, treatment }) =>
    Array.from({ length: PAGES }, (_, i) => {
      const of = (name: string) => byGroup.get([network.name, congestion, name, i + 1].join("/")) ?? [];
      return groupOf(of(treatment.name), treatment.name === treatment.base ? [] : of(treatment.base), seed);
    }).filter((group) => group !== undefined),
  );
  const { command, starts, failures, timeouts } = summaryHead(run, rows);
  // Of all pages: on a busy machine none may count.
  const day = lastDay(measured);
  const counted = { rows: measured.length, late: measured.length - rows.length, lateRatioMax: LATE_RATIO_MAX };
  return { command, day, seed, starts, places, ...counted, failures, timeouts, groups };
}

/** One page's number of all visits of a treatment at a place. Times in milliseconds; intervals of 95 %. */
function groupOf(rows: readonly OfferRow[], base: readonly OfferRow[], seed: number) {
  const timesOf = (of: readonly OfferRow[]): number[] => of.flatMap(({ loadMs }) => loadMs ?? []);
  const [[first], times, baseTimes] = [rows, timesOf(rows), timesOf(base)];
  if (first === undefined || times.length === 0) return undefined;
  const { network, congestion, treatment, page } = first;
  const random = seededRandom(seed, "offers", network, congestion, treatment, page);
  const ok = rows.filter(({ outcome }) => outcome === "ok");
  const files = ok.map((row) => row.files).join("");
  return {
    network,
    congestion,
    treatment,
    page,
    n: ok.length,
    loadMs: meanInterval(times, { random }),
    /** The base's mean load time over this one's: above 1 the offer made the page faster. */
    ratio:
      Math.min(times.length, baseTimes.length) < 2 ? undefined : ratioOfMeansInterval(baseTimes, times, { random }),
    /** Of the documents, and of the files beside them: the share over HTTP/3. */
    documentsH3: mean(ok.map(({ documentProtocol }) => Number(documentProtocol === "h3"))),
    filesH3: files.length === 0 ? Number.NaN : files.replaceAll("2", "").length / files.length,
    /** Visits whose files came over both. */
    mixed: mean(ok.map((row) => Number(row.files.includes("2") && row.files.includes("3")))),
    /** Of the document's connection, as the browser says: 0 where it was open, or where the browser had begun to open it by itself. */
    connectMs: mean(ok.flatMap((row) => row.connectMs ?? [])),
    busy: mean(ok.flatMap(({ busyRatio }) => busyRatio ?? [])),
  };
}

export function findGroup(
  { groups }: Pick<OffersSummary, "groups">,
  { network, congestion }: Pick<OfferPlace, "network" | "congestion">,
  treatment: string,
  page: number,
): Group | undefined {
  return groups.find(
    (one) =>
      one.network === network.name && one.congestion === congestion && one.treatment === treatment && one.page === page,
  );
}

/** A run without a page that loaded measured nothing. */
export function noneLoaded(rows: readonly Pick<OfferRow, "outcome" | "error">[]): string | undefined {
  if (rows.length === 0 || rows.some(({ outcome }) => outcome === "ok")) return undefined;
  return `No page loaded: ${rows[0]?.error}`;
}

export function offersReport(summary: OffersSummary): Report {
  const { day, places, rows, late, failures, timeouts, groups } = summary;
  const treatments = new Map(places.flatMap((place) => place.treatments).map((one) => [one.name, one]));
  const offered = linesOf(places).filter(({ treatment: { name, base } }) => name !== base);
  const before = pagesBefore(places[0]);
  return {
    values: {
      ...runValues(summary),
      day,
      rows,
      late,
      lateMax: percent(LATE_RATIO_MAX),
      failures,
      timeouts,
      rateMbps: places[0]?.network.rateMbps ?? 0,
      pagesBefore: before === 2 ? "two" : "four",
      pagesOfReturn: before === 2 ? " of three pages" : "",
      treatments: [...treatments.values()].map(({ name, about }) => ({ name, about })),
      changes: tableOf(offered, [
        ["network", ({ place }) => place.network.name],
        ["TCP", ({ place }) => place.congestion],
        ["treatment", ({ treatment }) => treatment.name],
        ...Array.from({ length: PAGES }, (_, i): Column<(typeof offered)[number]> => [
          pageName(i + 1, before),
          ({ place, treatment }) => withInterval(findGroup(summary, place, treatment.name, i + 1)?.ratio),
        ]),
      ]),
      all: tableOf(groups, [
        ["network", ({ network }) => network],
        ["TCP", ({ congestion }) => congestion],
        ["treatment", ({ treatment }) => treatment],
        ["page", ({ page }) => pageName(page, before)],
        ["n", ({ n }) => String(n)],
        ["load ms", ({ loadMs }) => withInterval(loadMs)],
        ["documents over HTTP/3", ({ documentsH3 }) => percent(documentsH3)],
        ["files", ({ filesH3 }) => percent(filesH3)],
        ["pages over both", ({ mixed }) => percent(mixed)],
        ["connect ms", ({ connectMs }) => number(connectMs)],
        ["busiest core", ({ busy }) => number(busy)],
      ]),
    },
  };
}

function linesOf(places: readonly OfferPlace[]) {
  return places.flatMap((place) => place.treatments.map((treatment) => ({ place, treatment })));
}

/** How many pages of a visit come before its return. */
export function pagesBefore(place: Pick<OfferPlace, "pagesBefore"> | undefined): number {
  return place?.pagesBefore ?? PAGES - 1;
}

function pageName(page: number, before: number): string {
  if (page <= before) return `page ${page}`;
  return before === PAGES - 1 ? "return" : `return, page ${page - before}`;
}
