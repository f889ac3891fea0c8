import { crossover, type Crossover, growth } from "../../analysis/statistics/crossover.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { timesOf } from "../../analysis/loads/groups.ts";
import { publishedBeside, type PublishedPoint, type PublishedSeries } from "../../analysis/loads/published-series.ts";
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

export type SweepReading = ReturnType<typeof sweepReadings>[number];

/** What the sweep asks of its series over delay: where the protocols cross, and what each step of delay adds. */
export function sweepReadings({ rows, seed }: LoadsRecorded, cells: readonly SeriesCell[]) {
  const published = publishedBeside(PUBLISHED_SWEEP, cells)?.points;
  const behindMs = published?.[0] === undefined ? undefined : published[0].h3Ms - published[0].h2Ms;
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const readings = Object.keys(READINGS).filter((id) => cells.some(({ series }) => series === id));
  return congestions.flatMap((congestion) =>
    readings.flatMap((series) => {
      const own = cells.filter(
        (cell) => cell.series === series && cell.congestion === congestion && cell.ratio !== undefined,
      );
      const places = own.map(({ label, cell, h2, h3 }) => {
        const [a = [], b = []] = [h2, h3].map((group) =>
          group === undefined ? [] : timesOf(rows, cell, group.arm, group.flow),
        );
        return { x: Number(label), a, b };
      });
      const random = seededRandom(seed, "crossover", series, congestion);
      const rttMs = (x: number): number => (series === "rtt" ? x : 2 * x);
      const later = places.map(({ x, a, b }) => ({ x, a, b: b.map((ms) => ms + rttMs(x)) }));
      const [first, second, last] = [places[0], places[1], places.at(-1)];
      if (first === undefined || last === undefined || first === last) return [];
      const steps = (last.x - first.x) / STEP_MS;
      const of = (side: "a" | "b"): Interval => growth(first[side], last[side], steps, random);
      const behind = mean(first.b) - mean(first.a);
      return {
        congestion,
        series,
        lastMs: last.x,
        behindMs: behind,
        /** If HTTP/3 were as far behind at the first place as published, everywhere by as much more. */
        crossoverBehind:
          behindMs === undefined
            ? undefined
            : crossover(
                places.map(({ x, a, b }) => ({ x, a, b: b.map((ms) => ms + behindMs - behind) })),
                random,
              ),
        crossover: crossover(places, random),
        /** If HTTP/3 took a round trip more. */
        crossoverLater: crossover(later, random),
        growthMs: { h2: of("a"), h3: of("b") },
        firstStepMs: { h2: mean(second?.a ?? []) - mean(first.a), h3: mean(second?.b ?? []) - mean(first.b) },
        /** From the second place on: published, the first step is another one. */
        growthAfterFirstMs:
          second === undefined || second === last
            ? undefined
            : {
                h2: growth(second.a, last.a, (last.x - second.x) / STEP_MS, random),
                h3: growth(second.b, last.b, (last.x - second.x) / STEP_MS, random),
              },
        h2AheadAtFirst: mean(first.b) / mean(first.a) - 1,
        h3AheadAtLast: mean(last.a) / mean(last.b) - 1,
      };
    }),
  );
}

/** The values of the report's sections on the sweep. */
export function sweepValues(
  { sweep, cells }: { readonly sweep: readonly SweepReading[]; readonly cells: readonly SeriesCell[] },
  published: PublishedSeries | undefined,
) {
  return {
    sweep: sweepTable(sweep, published?.points),
    why: published === undefined ? undefined : whyValues(published.points, sweep, cells),
  };
}

function sweepTable(sweep: readonly SweepReading[], published: readonly PublishedPoint[] | undefined): string {
  return figuresTable(
    [
      "",
      "crossover, ms",
      "if HTTP/3 came a round trip later",
      "if it were as far behind at 0 ms as published",
      "50 ms more add, h2 ms",
      "h3 ms",
      "h2 ahead without delay",
      "h3 ahead at the longest delay",
    ],
    [
      ...(published === undefined ? [] : [publishedRow(published)]),
      ...sweep.map((one) => [
        `${one.congestion}, ${READINGS[one.series] ?? one.series}`,
        crossoverText(one.crossover),
        // Those have that round trip already.
        isRetried(one) ? "-" : crossoverText(one.crossoverLater),
        one.crossoverBehind === undefined ? "-" : crossoverText(one.crossoverBehind),
        stepText(one.growthMs.h2),
        stepText(one.growthMs.h3),
        percent(one.h2AheadAtFirst),
        percent(one.h3AheadAtLast),
      ]),
    ],
  );
}

/** The readings whose server asks for a Retry. */
function isRetried({ series }: SweepReading): boolean {
  return series === "retry" || series === "window";
}

function stepText({ estimate, low, high }: Interval): string {
  return `${number(estimate)} (${number(low)} to ${number(high)})`;
}

function publishedRow(points: readonly PublishedPoint[]): string[] {
  const [begin, end] = [points[0], points.at(-1)];
  return [
    "published",
    "45 to 50",
    "",
    "",
    number(grown(points, "h2Ms")),
    number(grown(points, "h3Ms")),
    percent((begin?.h3Ms ?? Number.NaN) / (begin?.h2Ms ?? Number.NaN) - 1),
    percent(aheadAt(end)),
  ];
}

/** A step of 50 ms, from the first of these places to the last. */
function grown(points: readonly PublishedPoint[], of: "h2Ms" | "h3Ms"): number {
  return ((points.at(-1)?.[of] ?? Number.NaN) - (points[0]?.[of] ?? Number.NaN)) / (points.length - 1);
}

function aheadAt(point: PublishedPoint | undefined): number {
  return (point?.h2Ms ?? Number.NaN) / (point?.h3Ms ?? Number.NaN) - 1;
}

/** Why the sweep differs from what was published: each figure that the template's reasons name. */
function whyValues(published: readonly PublishedPoint[], sweep: readonly SweepReading[], cells: readonly SeriesCell[]) {
  const behind = sweep.map(({ behindMs }) => behindMs);
  const queues = cells.flatMap(({ series, ratio }) =>
    series === "queue" && ratio !== undefined ? [ratio.estimate] : [],
  );
  const [zero, fifty] = published;
  const from50 = published.slice(1);
  return {
    behind: number((zero?.h3Ms ?? Number.NaN) - (zero?.h2Ms ?? Number.NaN)),
    leastBehind: number(Math.min(...behind)),
    mostBehind: number(Math.max(...behind)),
    h2Step: number(grown(from50, "h2Ms")),
    h3Step: number(grown(from50, "h3Ms")),
    retried: retriedValues(sweep, published),
    readings: readingsText(sweep, published),
    // 581.19 KB/s at a mean of 1.763 s, KB of 1,024 bytes.
    bytes: number((581.19 * 1_024 * 1_763) / 1_000),
    leastQueue: number(Math.min(...queues)),
    mostQueue: number(Math.max(...queues)),
    fifty: number(1 + aheadAt(fifty)),
  };
}

/** Which readings of the delay make both protocols grow as published. */
export function readingsText(sweep: readonly SweepReading[], published: readonly PublishedPoint[]): string {
  const holds = ({ low, high }: Interval, of: "h2Ms" | "h3Ms"): boolean =>
    low <= grown(published, of) && grown(published, of) <= high;
  const found = sweep.filter(
    (one) => !isRetried(one) && holds(one.growthMs.h2, "h2Ms") && holds(one.growthMs.h3, "h3Ms"),
  );
  return found.length === 0
    ? "neither makes the published growth of both protocols"
    : `the published growth of both protocols is that of ${found.map(({ congestion, series }) => `${READINGS[series]} beside ${congestion}`).join(" and ")}`;
}

/** What a Retry on the wire did, alone and with the same first window; undefined where neither was measured. */
function retriedValues(sweep: readonly SweepReading[], published: readonly PublishedPoint[]) {
  const texts = (series: string): string =>
    sweep
      .filter((one) => one.series === series)
      .map(
        ({ congestion, growthAfterFirstMs: step, h3AheadAtLast }) =>
          `${number(step?.h2.estimate)} and ${number(step?.h3.estimate)} ms a step beside ${congestion}, ${h3AheadAtLast < 0 ? "HTTP/2" : "HTTP/3"} ahead by ${percent(Math.abs(h3AheadAtLast))} at the longest delay`,
      )
      .join("; ");
  if (texts("retry") === "") return undefined;
  const both = sweep.find(({ series }) => series === "window");
  const [first, second] = published;
  return {
    retry: texts("retry"),
    publishedLast: percent(aheadAt(published.at(-1))),
    window: texts("window"),
    firstH2: number((second?.h2Ms ?? Number.NaN) - (first?.h2Ms ?? Number.NaN)),
    firstH3: number((second?.h3Ms ?? Number.NaN) - (first?.h3Ms ?? Number.NaN)),
    measuredH2: number(both?.firstStepMs.h2),
    measuredH3: number(both?.firstStepMs.h3),
    congestion: both?.congestion,
  };
}

function crossoverText({ x, interval, share }: Crossover): string {
  if (x === undefined) return share === 0 ? "none" : `none (${percent(share)} of resamples have one)`;
  const some = share > 0.995 ? "" : `${interval === undefined ? "" : "; "}${percent(share)} of resamples`;
  if (interval === undefined) return some === "" ? number(x) : `${number(x)} (${some})`;
  return `${number(x)} (${number(interval[0])} to ${number(interval[1])}${some})`;
}
