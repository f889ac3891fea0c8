import { mean } from "../stats/summary.ts";
import { type Crossover, crossover, growth } from "../stats/crossover.ts";
import type { Interval } from "../stats/bootstrap.ts";
import { seededRandom } from "../stats/random.ts";
import { figuresTable } from "./figures-table.ts";
import { number, percent } from "./format.ts";
import { timesOf } from "./groups.ts";
import { PUBLISHED_SERIES } from "./published-series.ts";
import type { ReportInput } from "./report.ts";
import type { SeriesCell } from "./series.ts";
import type { Findings } from "./series-report.ts";

/** "About 45 to 50 ms". */
const PUBLISHED_CROSSOVER_MS = 47.5;
const PROTOCOLS = ["fixed-h2", "fixed-h3"] as const;

/** What the latency sweep asks of its series over delay: where the protocols cross, and what each step of delay adds. */
export function latencyFindings({ rows, seed }: ReportInput, cells: readonly SeriesCell[]): Findings {
  const published = PUBLISHED_SERIES["latency-sweep"]?.points ?? [];
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  // Both readings of the published delay.
  const readings = ["delay", "rtt"].filter((id) => cells.some(({ series }) => series === id));
  const results = congestions.flatMap((congestion) =>
    readings.map((series) => {
      const own = cells.filter((cell) => cell.series === series && cell.congestion === congestion);
      const places = own.map(({ label, cell }) => {
        const [h2, h3] = PROTOCOLS.map((arm) => timesOf(rows, cell, arm, "download"));
        return { x: Number(label), a: h2 ?? [], b: h3 ?? [] };
      });
      const random = seededRandom(seed, "crossover", series, congestion);
      const rttMs = (x: number): number => (series === "rtt" ? x : 2 * x);
      const later = places.map(({ x, a, b }) => ({ x, a, b: b.map((ms) => ms + rttMs(x)) }));
      const [first, last] = [places[0], places.at(-1)];
      const steps = places.length - 1;
      const of = (side: "a" | "b"): Interval => growth(first?.[side] ?? [], last?.[side] ?? [], steps, random);
      return {
        congestion,
        series,
        crossover: crossover(places, random),
        /** If HTTP/3 took a round trip more. */
        crossoverLater: crossover(later, random),
        growthMs: { h2: of("a"), h3: of("b") },
        h2AheadAtFirst: mean(first?.b ?? []) / mean(first?.a ?? []) - 1,
        h3AheadAtLast: mean(last?.a ?? []) / mean(last?.b ?? []) - 1,
      };
    }),
  );
  const [begin, end] = [published[0], published.at(-1)];
  const grown = (of: "h2Ms" | "h3Ms"): number => ((end?.[of] ?? 0) - (begin?.[of] ?? 0)) / (published.length - 1);
  const steps = (interval: Interval): string =>
    `${number(interval.estimate)} (${number(interval.low)} to ${number(interval.high)})`;
  const table = figuresTable(
    [
      "",
      "crossover, ms",
      "the same, HTTP/3 a round trip later",
      "a step adds, h2 ms",
      "h3 ms",
      "h2 ahead without delay",
      "h3 ahead at 150 ms",
    ],
    [
      [
        "published",
        "45 to 50",
        "",
        number(grown("h2Ms")),
        number(grown("h3Ms")),
        percent((begin?.h3Ms ?? Number.NaN) / (begin?.h2Ms ?? Number.NaN) - 1),
        percent((end?.h2Ms ?? Number.NaN) / (end?.h3Ms ?? Number.NaN) - 1),
      ],
      ...results.map(
        ({ congestion, series, crossover: found, crossoverLater, growthMs, h2AheadAtFirst, h3AheadAtLast }) => [
          `${congestion}, ${series === "delay" ? "delay one way" : "delay as RTT"}`,
          crossoverText(found),
          crossoverText(crossoverLater),
          steps(growthMs.h2),
          steps(growthMs.h3),
          percent(h2AheadAtFirst),
          percent(h3AheadAtLast),
        ],
      ),
    ],
  );
  const queues = cells.flatMap(({ series, ratio }) =>
    series === "queue" && ratio !== undefined ? [ratio.estimate] : [],
  );
  const { h2Ms = Number.NaN, h3Ms = Number.NaN } = published.find(({ label }) => label === "50") ?? {};
  const fifty = h2Ms / h3Ms;
  const markdown = `## What the sweep was made for

Where the two means are equal (linear between the delays that were measured), and what a step of 50 ms adds to each, with 95 %
percentile intervals (bootstrap within each sample).

${table}

Where this differs from what was published, likeliest cause first:

- A round trip. Here HTTP/3's handshake takes one and HTTP/2's two (TCP, then TLS), and so HTTP/3 pulls ahead by a round trip and
  more, from the first milliseconds on. In the published table both grow alike (${number(grown("h2Ms"))} and ${number(grown("h3Ms"))} ms a step): something there cost HTTP/3 the
  round trip that it saves. A server that validates addresses by a Retry (RFC 9000, 8.1.2) does, or a client that connects
  over TCP first. The column beside adds one to HTTP/3's measured times; nothing else was changed. ${nearestText(results)}
- The delay's direction. A step adds more than was published where the delay is one way, less where it is the RTT: neither
  reading alone makes the published growth.
- The file. The published rates are the means' of 1,048,576 bytes (${publishedBytes()}), 4.9 % more than the 1,000,000 here: about 80 ms
  in each time, and nothing between the protocols.
- The congestion control and the queue: over both TCPs and all queues of the series below HTTP/2 takes ${number(Math.min(...queues))} to ${number(Math.max(...queues))} times as long as
  HTTP/3 at a delay of 50 ms; published are ${number(fifty)}.`;
  return { markdown, summary: { sweep: results } };
}

/** Of all readings with that round trip, the one whose crossover is nearest to the published. */
function nearestText(results: readonly { congestion: string; series: string; crossoverLater: Crossover }[]): string {
  const [nearest] = results
    .flatMap(({ congestion, series, crossoverLater: { x } }) => (x === undefined ? [] : [{ congestion, series, x }]))
    .toSorted((one, other) => Math.abs(one.x - PUBLISHED_CROSSOVER_MS) - Math.abs(other.x - PUBLISHED_CROSSOVER_MS));
  if (nearest === undefined) return "";
  const { congestion, series, x } = nearest;
  return `Nearest to the published crossover then comes ${congestion} with the delay ${series === "rtt" ? "as RTT" : "one way"}: ${number(x)} ms.`;
}

function crossoverText({ x, interval, share }: Crossover): string {
  if (x === undefined) return share === 0 ? "none" : `none (in ${percent(share)} of resamples)`;
  return interval === undefined ? number(x) : `${number(x)} (${number(interval[0])} to ${number(interval[1])})`;
}

/** 581.19 KB/s at a mean of 1.763 s, KB of 1,024 bytes. */
function publishedBytes(): string {
  return `${number((581.19 * 1_024 * 1_763) / 1_000)} at 0 ms`;
}
