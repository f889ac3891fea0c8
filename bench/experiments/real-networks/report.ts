import type { TopLevelSpec } from "vega-lite";
import { ratioPanels } from "../../analysis/charts/ratio-panels.ts";
import { type Interval, percentileInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { type Random, resampled, seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { number, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { LATE_RATIO_MAX } from "../../harness/loads/batch.ts";
import { onceEach, runValues, summaryHead } from "../../harness/machine.ts";
import { PAGE_TIMEOUT_MS } from "../../model/browser-pages.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { BROWSER_COLUMNS } from "../../model/visit-row.ts";
import type { RealNetwork } from "./networks.ts";

export const ARMS = ["fixed-h2", "always-offer", "published", "adaptive"] as const;
/** Three of a visit, and a return. */
export const PAGES = 4;

/** One page of a visit: its id names network, arm, visit and page. */
export const REAL_ROW = {
  ...BROWSER_COLUMNS,
  network: string(),
  arm: string<(typeof ARMS)[number]>(),
  /** From 1; the last one is the return. */
  page: float,
  /** Of its files, the share over HTTP/3. */
  filesH3: optionalFloat,
} as const satisfies RowSchema;
export type RealRow = RowOf<typeof REAL_ROW>;

const RESAMPLES = 2_000;

type Arm = RealRow["arm"];
/** By arm: of each visit the geometric mean of its pages, milliseconds. */
type Times = Readonly<Record<Arm, readonly number[]>>;

function byArm<Value>(of: (arm: Arm) => Value): Record<Arm, Value> {
  return Object.fromEntries(ARMS.map((arm) => [arm, of(arm)])) as Record<Arm, Value>;
}

interface Place {
  readonly network: string;
  readonly from: RealNetwork["from"];
  readonly times: Times;
}

/** A page that did not load counts with what it may take. */
function timesOf(rows: readonly RealRow[]): number[] {
  return [...Map.groupBy(rows, ({ visit }) => visit).values()]
    .filter(({ length }) => length === PAGES)
    .map((pages) => Math.exp(mean(pages.map(({ loadMs }) => Math.log(loadMs ?? PAGE_TIMEOUT_MS)))));
}

const logMean = (times: readonly number[]): number => mean(times.map(Math.log));

/** ln(HTTP/2's time / an arm's), the mean over places. */
function gainOf(places: readonly Place[], arm: Arm): number {
  return mean(places.map(({ times }) => logMean(times["fixed-h2"]) - logMean(times[arm])));
}

/** Never or always, whichever is better over all these places. */
function oneBit(places: readonly Place[]): Arm {
  return gainOf(places, "always-offer") > 0 ? "always-offer" : "fixed-h2";
}

const CONTENDERS = ["never", "always", "one bit", "published line", "ours"] as const;
type Contender = (typeof CONTENDERS)[number];

function gainsOf(places: readonly Place[], bit: Arm): Record<Contender, number> {
  const of = (arm: Arm): number => gainOf(places, arm);
  return {
    never: 0,
    always: of("always-offer"),
    "one bit": of(bit),
    "published line": of("published"),
    ours: of("adaptive"),
  };
}

/** What each contender gains over these places, and by how much ours is ahead. Intervals are over visits; the places are those of the run. */
function scoresOf(places: readonly Place[], random: Random) {
  const bit = oneBit(places);
  const whole = gainsOf(places, bit);
  const drawn = Array.from({ length: RESAMPLES }, () =>
    gainsOf(
      places.map((place) => ({
        ...place,
        times: byArm((arm) => resampled(place.times[arm], random)),
      })),
      bit,
    ),
  );
  return CONTENDERS.map((contender) => ({
    contender,
    gain: percentileInterval(
      whole[contender],
      drawn.map((gains) => gains[contender]),
    ),
    oursAhead: percentileInterval(
      whole.ours - whole[contender],
      drawn.map((gains) => gains.ours - gains[contender]),
    ),
  }));
}

export function networksSummary(
  recorded: Pick<Recorded<unknown, RealRow>, "rows" | "command" | "starts">,
  described: readonly RealNetwork[],
  { congestion, seed }: { readonly congestion: string; readonly seed: number },
) {
  const rows = onceEach(recorded.rows);
  const kinds = new Map(described.map((one) => [one.network.name, one.from]));
  // The others follow traces, which are not needed to make a report.
  const networks = [...new Set([...kinds.keys(), ...rows.map(({ network }) => network)])];
  const own = Map.groupBy(rows, ({ network, arm }) => `${network}/${arm}`);
  const all = networks.map((network): Place => {
    const times = byArm((arm) => timesOf(own.get(`${network}/${arm}`) ?? []));
    return { network, from: kinds.get(network) ?? "trace", times };
  });
  const places = all.filter(({ times }) => ARMS.every((arm) => times[arm].length >= 2));
  const sets = [
    ["all", places],
    ["UDP as TCP", places.filter(({ from }) => from !== "policed")],
  ] as const;
  const random = (...name: readonly string[]): Random => seededRandom(seed, "real-networks", ...name);
  return {
    ...summaryHead(recorded, rows),
    congestion,
    left: all.filter((place) => !places.includes(place)).map(({ network }) => network),
    late: rows.filter(({ lateRatio }) => (lateRatio ?? 0) > LATE_RATIO_MAX).length,
    places: places.map(({ network, from, times }) => {
      const best: Arm = logMean(times["always-offer"]) < logMean(times["fixed-h2"]) ? "always-offer" : "fixed-h2";
      const over = (arm: Arm): Interval =>
        ratioOfMeansInterval(times[arm], times[best], { random: random(network, arm) });
      return {
        network,
        from,
        n: ARMS.map((arm) => times[arm].length),
        ms: byArm((arm) => Math.exp(logMean(times[arm]))),
        best,
        ours: over("adaptive"),
        overH3: Array.from({ length: PAGES - 1 }, (_, i) =>
          mean(
            (own.get(`${network}/adaptive`) ?? []).flatMap((row) => (row.page === i + 2 ? (row.filesH3 ?? []) : [])),
          ),
        ),
      };
    }),
    scores: sets
      .filter(([, members]) => members.length > 0)
      .map(([set, members]) => ({ set, contenders: scoresOf(members, random("scores", set)) })),
  };
}

type Summary = ReturnType<typeof networksSummary>;

export function networksReport(summary: Summary): Report {
  const { places, scores, left, congestion, late, starts } = summary;
  return {
    values: {
      ...runValues(summary),
      day: summary.day,
      rows: summary.rows,
      failures: summary.failures,
      timeouts: summary.timeouts,
      late,
      left,
      congestion,
      chromium: String(starts.at(-1)?.tools?.["chromium"]),
      scores: tableOf(
        scores.flatMap(({ set, contenders }) => contenders.map((row) => ({ set, ...row }))),
        [
          ["networks", ({ set }) => set],
          ["", ({ contender }) => contender],
          ["gain", ({ gain }) => interval(gain)],
          ["ours gains more by", ({ oursAhead }) => interval(oursAhead)],
        ],
      ),
      places: tableOf(places, [
        ["network", ({ network }) => network],
        ["n", ({ n }) => `${Math.min(...n)} to ${Math.max(...n)}`],
        ["never, ms", ({ ms }) => number(ms["fixed-h2"])],
        ["always", ({ ms }) => number(ms["always-offer"])],
        ["published line", ({ ms }) => number(ms.published)],
        ["ours", ({ ms }) => number(ms.adaptive)],
        ["ours, over the best fixed choice", ({ ours }) => withInterval(ours)],
        [
          "ours over HTTP/3: page 2, 3, return, %",
          ({ overH3 }) => overH3.map((share) => (100 * share).toFixed(0)).join(", "),
        ],
      ]),
    },
    pictures: [{ file: "real-networks.svg", spec: pictureOf(summary) }],
  };
}

/** Ours against the best fixed choice of each network. */
function pictureOf({ places, congestion }: Summary): TopLevelSpec {
  const panel = `Chromium, TCP with ${congestion}`;
  return ratioPanels({
    title: {
      text: "Ours against the better of never and always, on each network",
      subtitle: ["Mean time of a page. Below 1 ours is faster. Lines: 95 % intervals."],
    },
    values: places.map(({ network, ours: { estimate, low, high } }) => ({ network, panel, estimate, low, high })),
    ratio: "time, of the best fixed choice's",
    panel: { field: "panel", sort: [panel] },
    row: { field: "network", sort: [...new Set(places.map(({ network }) => network))] },
  });
}

/** `0.68 (0.53 to 0.85)`; below 0 too. */
function interval({ estimate, low, high }: Interval): string {
  return `${number(estimate)} (${number(low)} to ${number(high)})`;
}
