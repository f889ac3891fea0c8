import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import type { Recorded } from "../../harness/experiment.ts";
import { lastDay } from "../../harness/machine-text.ts";
import type { OfferRow } from "../../model/offer-row.ts";
import { PAGES, type Place, type Treatment } from "./settings.ts";

/**
 * Packets that may leave the path late, of all: where more do, the page shared the cores with something else. Chromium alone
 * keeps one of them busy, so the bound is wider than that of other clients.
 */
const LATE_RATIO_MAX = 0.03;

/** One page's number of all visits of a treatment at a place. Times in milliseconds; intervals of 95 %. */
export type Group = NonNullable<ReturnType<typeof groupOf>>;

export type OffersSummary = ReturnType<typeof offersSummary>;

export function offersSummary(
  { rows: all, command, starts }: Pick<Recorded<unknown, OfferRow>, "rows" | "command" | "starts">,
  places: readonly Place[],
  seed: number,
) {
  // A run that was killed between two rows of a visit has made it again.
  const measured = [...new Map(all.map((row) => [row.id, row])).values()];
  const rows = measured.filter(({ lateRatio }) => (lateRatio ?? 0) <= LATE_RATIO_MAX);
  const byGroup = Map.groupBy(rows, ({ network, congestion, treatment, page }) =>
    [network, congestion, treatment, page].join("/"),
  );
  const groups = places.flatMap(({ network, congestion, treatments }) =>
    treatments.flatMap((treatment) =>
      Array.from({ length: PAGES }, (_, i) => {
        const of = (name: string): readonly OfferRow[] =>
          byGroup.get([network.name, congestion, name, i + 1].join("/")) ?? [];
        return groupOf(treatment, of(treatment.name), of(treatment.base), seed);
      }).filter((group) => group !== undefined),
    ),
  );
  return {
    command,
    day: lastDay(rows),
    seed,
    starts,
    places,
    rows: measured.length,
    late: measured.length - rows.length,
    lateRatioMax: LATE_RATIO_MAX,
    failures: rows.filter(({ outcome }) => outcome === "failed").length,
    timeouts: rows.filter(({ outcome }) => outcome === "timeout").length,
    groups,
  };
}

function groupOf(treatment: Treatment, rows: readonly OfferRow[], base: readonly OfferRow[], seed: number) {
  const [first] = rows;
  const times = timesOf(rows);
  if (first === undefined || times.length === 0) return undefined;
  const { network, congestion, page } = first;
  const random = seededRandom(seed, "offers", network, congestion, treatment.name, page);
  const ok = rows.filter(({ outcome }) => outcome === "ok");
  const files = ok.map((row) => row.files).join("");
  const baseTimes = timesOf(base);
  return {
    network,
    congestion,
    treatment: treatment.name,
    page,
    n: ok.length,
    loadMs: meanInterval(times, { random }),
    /** The base's mean load time over this one's: above 1 the offer made the page faster. */
    ratio:
      treatment.name === treatment.base || Math.min(times.length, baseTimes.length) < 2
        ? undefined
        : ratioOfMeansInterval(baseTimes, times, { random }),
    /** Of the documents, and of the files beside them: the share over HTTP/3. */
    documentsH3: mean(ok.map(({ documentProtocol }) => Number(documentProtocol === "h3"))),
    filesH3: files.length === 0 ? Number.NaN : files.replaceAll("2", "").length / files.length,
    /** Visits whose files came over both. */
    mixed: mean(ok.map((row) => Number(row.files.includes("2") && row.files.includes("3")))),
    busy: mean(ok.flatMap(({ busyRatio }) => busyRatio ?? [])),
  };
}

function timesOf(rows: readonly OfferRow[]): number[] {
  return rows.flatMap(({ loadMs }) => loadMs ?? []);
}

export function findGroup(
  { groups }: Pick<OffersSummary, "groups">,
  { network, congestion }: Pick<Place, "network" | "congestion">,
  treatment: string,
  page: number,
): Group | undefined {
  return groups.find(
    (one) =>
      one.network === network.name && one.congestion === congestion && one.treatment === treatment && one.page === page,
  );
}

export type Claim = "Holds" | "Does not hold" | "Not shown";

/**
 * "Where an offer comes with the first page, that page stays on HTTP/2, and the next one comes over HTTP/3", on the networks of
 * this RTT or more: below a tenth of the files of the one, above nine tenths of the other.
 */
export function staysAndThenSwitches(summary: OffersSummary, fromRttMs: number): Claim {
  const far = summary.places.filter(({ network }) => 2 * network.delayMs >= fromRttMs);
  const pairs = far.map((place) => [findGroup(summary, place, "first", 1), findGroup(summary, place, "first", 2)]);
  if (pairs.length === 0 || pairs.flat().some((group) => group === undefined)) return "Not shown";
  return pairs.every(([first, next]) => (first?.filesH3 ?? 1) < 0.1 && (next?.filesH3 ?? 0) > 0.9)
    ? "Holds"
    : "Does not hold";
}

/** "A page that changes in its middle is slower than one that stays on HTTP/2": beyond both intervals' ends, at some place. */
export function changingCosts(summary: OffersSummary): Claim {
  const changed = summary.groups.filter(
    ({ treatment, page, mixed }) => treatment === "first" && page === 1 && mixed > 0.5,
  );
  const ratios: Interval[] = changed.flatMap(({ ratio }) => ratio ?? []);
  if (ratios.length === 0) return "Not shown";
  if (ratios.every(({ high }) => high < 1)) return "Holds";
  return ratios.some(({ low }) => low > 1) ? "Does not hold" : "Not shown";
}

/** A run without a page that loaded measured nothing. */
export function noneLoaded(rows: readonly Pick<OfferRow, "outcome" | "error">[]): string | undefined {
  if (rows.length === 0 || rows.some(({ outcome }) => outcome === "ok")) return undefined;
  return `No page loaded: ${rows[0]?.error}`;
}
