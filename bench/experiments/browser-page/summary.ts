import type { Recorded as Run } from "../../harness/experiment.ts";
import { lastDay } from "../../harness/machine-text.ts";
import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean, median } from "../../analysis/statistics/summary.ts";
import type { Recorded } from "./record-connections.ts";
import type { BrowserRow } from "./row.ts";
import { lastOf, type Place, placeId } from "./settings.ts";

/** All navigations of one number, of one arm, page and place. Times in milliseconds; intervals of 95 %. */
export type BrowserGroup = ReturnType<typeof groupOf>[number];

export type BrowserSummary = ReturnType<typeof browserSummary>;

export function browserSummary(
  { rows: all, command, starts }: Pick<Run<unknown, BrowserRow>, "rows" | "command" | "starts">,
  places: readonly Place[],
  recorded: Recorded,
  seed: number,
) {
  // A run that was killed between two rows of a visit has made it again.
  const rows = [...new Map(all.map((row) => [row.id, row])).values()];
  return {
    command,
    day: lastDay(rows),
    seed,
    ...recorded,
    starts,
    places,
    rows: rows.length,
    failures: rows.filter(({ outcome }) => outcome === "failed").length,
    timeouts: rows.filter(({ outcome }) => outcome === "timeout").length,
    groups: groupsOf(places, rows, seed),
  };
}

export function groupsOf(places: readonly Place[], rows: readonly BrowserRow[], seed: number): BrowserGroup[] {
  const groups = Map.groupBy(rows, ({ place, page, arm, navigation }) => [place, page, arm, navigation].join(" "));
  return places.flatMap((place) =>
    place.pages.flatMap((page) =>
      place.arms.flatMap((arm) =>
        Array.from({ length: lastOf(place) }, (_, i) => i + 1).flatMap((navigation) => {
          const of = (one: BrowserRow["arm"]): BrowserRow[] =>
            groups.get([placeId(place), page, one, navigation].join(" ")) ?? [];
          const beside = { h2: arm === "fixed-h2" ? [] : of("fixed-h2"), h3: arm === "files-h2" ? of("fixed-h3") : [] };
          return groupOf(of(arm), beside, seed);
        }),
      ),
    ),
  );
}

/** @param beside the same navigations of `fixed-h2` and of `fixed-h3`, where this arm is set beside them */
function groupOf(
  rows: readonly BrowserRow[],
  beside: Readonly<Record<"h2" | "h3", readonly BrowserRow[]>>,
  seed: number,
) {
  const [first] = rows;
  const times = valuesOf(rows, "loadMs");
  if (first === undefined || times.length === 0) return [];
  const { place, page, arm, navigation } = first;
  const random = seededRandom(seed, "browser", place, page, arm, navigation);
  const paints = valuesOf(rows, "lcpMs");
  const ratio = (to: keyof typeof beside, field: "loadMs" | "lcpMs"): Interval | undefined => {
    const [a, b] = [valuesOf(beside[to], field), valuesOf(rows, field)];
    return a.length < 2 || b.length < 2 ? undefined : ratioOfMeansInterval(a, b, { random });
  };
  const [overH2, overH3] = [sumOf(rows, "resourcesH2"), sumOf(rows, "resourcesH3")];
  const ok = rows.filter(({ outcome }) => outcome === "ok");
  const share = (of: readonly BrowserRow[]): number => (ok.length === 0 ? 0 : of.length / ok.length);
  return [
    {
      place,
      page,
      arm,
      /** 1: the first visit. */
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
      loadRatio: ratio("h2", "loadMs"),
      /** Likewise of the largest contentful paint. */
      lcpRatio: ratio("h2", "lcpMs"),
      /** Of `files-h2`: fixed-h3's mean load time over this one's. */
      loadRatioToH3: ratio("h3", "loadMs"),
      /** Documents over HTTP/3, of all. */
      documentsH3: share(ok.filter(({ documentProtocol }) => documentProtocol === "h3")),
      /** Of what a page loaded beside its document; NaN, in a file null, where there was nothing. */
      resourcesH3: overH3 / (overH2 + overH3),
      /** Documents that were offered HTTP/3, of all. */
      offered: share(ok.filter(({ answer }) => answer === "offer")),
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

function sumOf(rows: readonly BrowserRow[], field: NumberField): number {
  return valuesOf(rows, field).reduce((sum, value) => sum + value, 0);
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
