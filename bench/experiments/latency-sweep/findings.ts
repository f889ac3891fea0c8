import { crossover, type Crossover, growth } from "../../analysis/statistics/crossover.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { timesOf } from "../../analysis/loads/groups.ts";
import { publishedBeside } from "../../analysis/loads/published-series.ts";
import type { SeriesCell } from "../../analysis/loads/series-cells.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { PUBLISHED_SWEEP } from "./published.ts";

const STEP_MS = 50;
/** The series that are the sweep, read in one way or another, and how a row of the table names each. */
const READINGS: Readonly<Record<string, string>> = {
  delay: "delay one way",
  rtt: "delay as RTT",
  retry: "delay one way, HTTP/3 with a Retry",
  window: "the same, and TCP from quic-go's first window",
};
const [FIRST, SECOND, , LAST] = PUBLISHED_SWEEP.points;
/** How far HTTP/3 was behind without delay, and what 50 ms more added, as published. */
export const PUBLISHED = {
  behindMs: FIRST.h3Ms - FIRST.h2Ms,
  growthMs: { h2: (LAST.h2Ms - FIRST.h2Ms) / 3, h3: (LAST.h3Ms - FIRST.h3Ms) / 3 },
  firstStepMs: { h2: SECOND.h2Ms - FIRST.h2Ms, h3: SECOND.h3Ms - FIRST.h3Ms },
  growthAfterFirstMs: { h2: (LAST.h2Ms - SECOND.h2Ms) / 2, h3: (LAST.h3Ms - SECOND.h3Ms) / 2 },
} as const;

export type SweepReading = ReturnType<typeof sweepReadings>[number];

/** What the sweep asks of its series over delay: where the protocols cross, and what each step of delay adds. */
export function sweepReadings({ rows, seed }: LoadsRecorded, cells: readonly SeriesCell[]) {
  const isPublished = publishedBeside(PUBLISHED_SWEEP, cells) !== undefined;
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  return congestions.flatMap((congestion) =>
    Object.keys(READINGS).flatMap((series) => {
      const places = cells.flatMap(({ label, cell, h2, h3, ratio, ...own }) => {
        if (own.series !== series || own.congestion !== congestion || ratio === undefined) return [];
        const [a = [], b = []] = [h2, h3].map((group) =>
          group === undefined ? [] : timesOf(rows, cell, group.arm, group.flow),
        );
        return { x: Number(label), a, b };
      });
      const random = seededRandom(seed, "crossover", series, congestion);
      const [first, second, last] = [places[0], places[1], places.at(-1)];
      if (first === undefined || second === undefined || last === undefined) return [];
      const later = (byMs: (x: number) => number): Crossover =>
        crossover(
          places.map(({ x, a, b }) => ({ x, a, b: b.map((ms) => ms + byMs(x)) })),
          random,
        );
      const growthSince = (from: typeof first): { h2: Interval; h3: Interval } => {
        const steps = (last.x - from.x) / STEP_MS;
        return { h2: growth(from.a, last.a, steps, random), h3: growth(from.b, last.b, steps, random) };
      };
      const behindMs = mean(first.b) - mean(first.a);
      return {
        congestion,
        series,
        behindMs,
        /** If HTTP/3 were as far behind at the first place as published, everywhere by as much more. */
        crossoverBehind: isPublished ? later(() => PUBLISHED.behindMs - behindMs) : undefined,
        crossover: crossover(places, random),
        /** If HTTP/3 took a round trip more. */
        crossoverLater: later((x) => (series === "rtt" ? x : 2 * x)),
        growthMs: growthSince(first),
        firstStepMs: { h2: mean(second.a) - mean(first.a), h3: mean(second.b) - mean(first.b) },
        /** From the second place on: published, the first step is another one. */
        growthAfterFirstMs: second === last ? undefined : growthSince(second),
        h2AheadAtFirst: mean(first.b) / mean(first.a) - 1,
        h3AheadAtLast: mean(last.a) / mean(last.b) - 1,
      };
    }),
  );
}

/** Each column's title, what was published of it, and what it says of a reading. */
const COLUMNS: readonly (readonly [title: string, published: string, text: (reading: SweepReading) => string])[] = [
  ["", "published", ({ congestion, series }) => `${congestion}, ${READINGS[series] ?? series}`],
  ["crossover, ms", "45 to 50", ({ crossover: found }) => crossoverText(found)],
  // Those with a Retry have that round trip already.
  ["if HTTP/3 came a round trip later", "", (one) => (isRetried(one) ? "-" : crossoverText(one.crossoverLater))],
  ["if it were as far behind at 0 ms as published", "", ({ crossoverBehind }) => crossoverText(crossoverBehind)],
  ["50 ms more add, h2 ms", number(PUBLISHED.growthMs.h2), ({ growthMs }) => withInterval(growthMs.h2)],
  ["h3 ms", number(PUBLISHED.growthMs.h3), ({ growthMs }) => withInterval(growthMs.h3)],
  ["the first step adds, h2 ms", number(PUBLISHED.firstStepMs.h2), ({ firstStepMs }) => number(firstStepMs.h2)],
  ["h3 ms", number(PUBLISHED.firstStepMs.h3), ({ firstStepMs }) => number(firstStepMs.h3)],
  [
    "after it 50 ms more add, h2 ms",
    number(PUBLISHED.growthAfterFirstMs.h2),
    ({ growthAfterFirstMs }) => number(growthAfterFirstMs?.h2.estimate),
  ],
  [
    "h3 ms",
    number(PUBLISHED.growthAfterFirstMs.h3),
    ({ growthAfterFirstMs }) => number(growthAfterFirstMs?.h3.estimate),
  ],
  ["h3 behind without delay, ms", number(PUBLISHED.behindMs), ({ behindMs }) => number(behindMs)],
  ["h2 ahead without delay", percent(FIRST.h3Ms / FIRST.h2Ms - 1), ({ h2AheadAtFirst }) => percent(h2AheadAtFirst)],
  ["h3 ahead at the longest delay", percent(LAST.h2Ms / LAST.h3Ms - 1), ({ h3AheadAtLast }) => percent(h3AheadAtLast)],
];

/** Every reading of the sweep, below what was published where the files are as large. */
export function sweepTable(sweep: readonly SweepReading[]): string {
  const isPublished = sweep.some(({ crossoverBehind }) => crossoverBehind !== undefined);
  return figuresTable(
    COLUMNS.map(([title]) => title),
    [
      ...(isPublished ? [COLUMNS.map(([, published]) => published)] : []),
      ...sweep.map((one) => COLUMNS.map(([, , text]) => text(one))),
    ],
  );
}

/** The readings whose server asks for a Retry. */
function isRetried({ series }: SweepReading): boolean {
  return series === "retry" || series === "window";
}

export function crossoverText(found: Crossover | undefined): string {
  if (found === undefined) return "-";
  const { x, interval, share } = found;
  if (x === undefined) return share === 0 ? "none" : `none (${percent(share)} of resamples have one)`;
  const notes = [
    ...(interval === undefined ? [] : [`${number(interval[0])} to ${number(interval[1])}`]),
    ...(share > 0.995 ? [] : [`${percent(share)} of resamples`]),
  ];
  return notes.length === 0 ? number(x) : `${number(x)} (${notes.join("; ")})`;
}
