import { mean } from "../../analysis/statistics/summary.ts";
import { type Crossover, crossover, growth } from "../../analysis/statistics/crossover.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { timesOf } from "../../analysis/loads/groups.ts";
import { PUBLISHED_SERIES, publishedBeside, type PublishedPoint } from "../../analysis/loads/published-series.ts";
import type { ReportInput } from "../../harness/loads/report.ts";
import { returningSection, returningWays } from "./returning.ts";
import type { SeriesCell } from "../../analysis/loads/series-cells.ts";
import type { Findings } from "../../harness/loads/series-report.ts";

const STEP_MS = 50;
/** The series that are the sweep, read in one way or another, and how a row of the table names each. */
const READINGS: Readonly<Record<string, string>> = {
  delay: "delay one way",
  rtt: "delay as RTT",
  retry: "delay one way, HTTP/3 with a Retry",
  window: "the same, and TCP from quic-go's first window",
};

/** What the latency sweep asks of its series over delay: where the protocols cross, and what each step of delay adds. */
export function latencyFindings(input: ReportInput, cells: readonly SeriesCell[]): Findings {
  const { rows, seed } = input;
  const returning = returningWays(input);
  const published = publishedBeside("latency-sweep", cells)?.points;
  const behindMs = published?.[0] === undefined ? undefined : published[0].h3Ms - published[0].h2Ms;
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const readings = Object.keys(READINGS).filter((id) => cells.some(({ series }) => series === id));
  const results = congestions.flatMap((congestion) =>
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
  const steps = (interval: Interval): string =>
    `${number(interval.estimate)} (${number(interval.low)} to ${number(interval.high)})`;
  const table = figuresTable(
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
      ...results.map((one) => [
        `${one.congestion}, ${READINGS[one.series] ?? one.series}`,
        crossoverText(one.crossover),
        // Those have that round trip already.
        one.series === "retry" || one.series === "window" ? "-" : crossoverText(one.crossoverLater),
        one.crossoverBehind === undefined ? "-" : crossoverText(one.crossoverBehind),
        steps(one.growthMs.h2),
        steps(one.growthMs.h3),
        percent(one.h2AheadAtFirst),
        percent(one.h3AheadAtLast),
      ]),
    ],
  );
  const markdown = `## What the sweep was made for

Where the two means are equal (linear between the delays that were measured), and what 50 ms more of delay add to each, with 95 %
percentile intervals (bootstrap within each sample). Where not all resamples have a crossover, the interval is of those that have,
and their share stands with it, if it is under 99.5 %.

${table}${published === undefined ? "" : `\n\n${whyText(published, results, cells)}`}`;
  return {
    markdown: [markdown, returningSection(returning)].filter((text) => text !== "").join("\n\n"),
    summary: { sweep: results, returning },
  };
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
    percent((end?.h2Ms ?? Number.NaN) / (end?.h3Ms ?? Number.NaN) - 1),
  ];
}

/** A step of 50 ms, from the first of these places to the last. */
function grown(points: readonly PublishedPoint[], of: "h2Ms" | "h3Ms"): number {
  return ((points.at(-1)?.[of] ?? Number.NaN) - (points[0]?.[of] ?? Number.NaN)) / (points.length - 1);
}

function whyText(
  published: readonly PublishedPoint[],
  results: readonly (Retried & { readonly behindMs: number })[],
  cells: readonly SeriesCell[],
): string {
  const behind = results.map(({ behindMs }) => behindMs);
  const queues = cells.flatMap(({ series, ratio }) =>
    series === "queue" && ratio !== undefined ? [ratio.estimate] : [],
  );
  const [zero, fifty] = published;
  const from50 = published.slice(1);
  return `Where this differs from what was published, and what was tried:

- Something that HTTP/3 pays at any delay. Published, it is ${number((zero?.h3Ms ?? Number.NaN) - (zero?.h2Ms ?? Number.NaN))} ms behind at 0 ms; here ${number(Math.min(...behind))} to ${number(Math.max(...behind))} ms. A slower start of the client or the
  server would do that. One column adds as much to HTTP/3's measured times.
- A round trip. Here HTTP/3's handshake takes one and HTTP/2's two (TCP, then TLS). Published, from 50 ms on both grow alike
  (${number(grown(from50, "h2Ms"))} and ${number(grown(from50, "h3Ms"))} ms a step), as if HTTP/3 saved none: so does a server that validates addresses by a Retry (RFC 9000, 8.1.2), or a
  client that connects over TCP first. Another column adds one to HTTP/3's measured times${retried(results)}
- The delay's direction. Both readings stand in the table; neither makes the published growth of both protocols.
- The file. The published rates are the means' of 1,048,576 bytes (${publishedBytes()}), 4.9 % more than the 1,000,000 here: about 80 ms
  in each time, and nothing between the protocols.
- The congestion control and the queue: over all TCPs and all queues of the series below HTTP/2 takes ${number(Math.min(...queues))} to ${number(Math.max(...queues))} times as long as
  HTTP/3 at a delay of 50 ms; published are ${number((fifty?.h2Ms ?? Number.NaN) / (fifty?.h3Ms ?? Number.NaN))}.`;
}

interface Retried {
  readonly firstStepMs: { readonly h2: number; readonly h3: number };
  readonly congestion: string;
  readonly series: string;
  readonly growthAfterFirstMs: { readonly h2: Interval; readonly h3: Interval } | undefined;
  readonly h3AheadAtLast: number;
}

/** What a Retry on the wire did, alone and with the same first window: the end of a sentence. */
function retried(results: readonly Retried[]): string {
  const texts = (of: string): string =>
    results
      .filter(({ series }) => series === of)
      .map(
        ({ congestion, growthAfterFirstMs: step, h3AheadAtLast }) =>
          `${number(step?.h2.estimate)} and ${number(step?.h3.estimate)} ms a step beside ${congestion}, ${h3AheadAtLast < 0 ? "HTTP/2" : "HTTP/3"} ahead by ${percent(Math.abs(h3AheadAtLast))} at the longest delay`,
      )
      .join("; ");
  if (texts("retry") === "") return ".";
  return `; with a Retry on the wire
  they grow from the second delay on by ${texts("retry")} (published: HTTP/3 ahead by ${publishedLast()}). With
  a first window for TCP of as many packets as quic-go's besides, by ${texts("window")}.
  The published first step, ${firstStep("h2Ms")} and ${firstStep("h3Ms")} ms, is then ${measuredFirst(results, "h2")} and ${measuredFirst(results, "h3")} (${results.find(({ series }) => series === "window")?.congestion}).`;
}

function firstStep(of: "h2Ms" | "h3Ms"): string {
  const [first, second] = PUBLISHED_SERIES["latency-sweep"]?.points ?? [];
  return number((second?.[of] ?? Number.NaN) - (first?.[of] ?? Number.NaN));
}

function measuredFirst(results: readonly Retried[], of: "h2" | "h3"): string {
  return number(results.find(({ series }) => series === "window")?.firstStepMs[of]);
}

function publishedLast(): string {
  const last = PUBLISHED_SERIES["latency-sweep"]?.points.at(-1);
  return percent((last?.h2Ms ?? Number.NaN) / (last?.h3Ms ?? Number.NaN) - 1);
}

function crossoverText({ x, interval, share }: Crossover): string {
  if (x === undefined) return share === 0 ? "none" : `none (${percent(share)} of resamples have one)`;
  const some = share > 0.995 ? "" : `${interval === undefined ? "" : "; "}${percent(share)} of resamples`;
  if (interval === undefined) return some === "" ? number(x) : `${number(x)} (${some})`;
  return `${number(x)} (${number(interval[0])} to ${number(interval[1])}${some})`;
}

/** 581.19 KB/s at a mean of 1.763 s, KB of 1,024 bytes. */
function publishedBytes(): string {
  return `${number((581.19 * 1_024 * 1_763) / 1_000)} at 0 ms`;
}
