import { mean } from "../stats/summary.ts";
import { crossover, growth } from "../stats/crossover.ts";
import type { Interval } from "../stats/bootstrap.ts";
import { seededRandom } from "../stats/random.ts";
import { figuresTable } from "./figures-table.ts";
import { number, percent } from "./format.ts";
import { timesOf } from "./groups.ts";
import { PUBLISHED_SERIES } from "./published-series.ts";
import type { ReportInput } from "./report.ts";
import type { SeriesCell } from "./series.ts";
import type { Findings } from "./series-report.ts";

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
      const [first, last] = [places[0], places.at(-1)];
      const steps = places.length - 1;
      const of = (side: "a" | "b"): Interval => growth(first?.[side] ?? [], last?.[side] ?? [], steps, random);
      return {
        congestion,
        series,
        crossover: crossover(places, random),
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
      "resamples that have one",
      "a step adds, h2 ms",
      "h3 ms",
      "h2 ahead without delay",
      "h3 ahead at 150 ms",
    ],
    [
      [
        "published",
        "45 to 50",
        "-",
        number(grown("h2Ms")),
        number(grown("h3Ms")),
        percent((begin?.h3Ms ?? Number.NaN) / (begin?.h2Ms ?? Number.NaN) - 1),
        percent((end?.h2Ms ?? Number.NaN) / (end?.h3Ms ?? Number.NaN) - 1),
      ],
      ...results.map(({ congestion, series, crossover: found, growthMs, h2AheadAtFirst, h3AheadAtLast }) => [
        `${congestion}, ${series === "delay" ? "delay one way" : "delay as RTT"}`,
        found.x === undefined
          ? "none"
          : `${number(found.x)}${found.interval === undefined ? "" : ` (${number(found.interval[0])} to ${number(found.interval[1])})`}`,
        percent(found.share),
        steps(growthMs.h2),
        steps(growthMs.h3),
        percent(h2AheadAtFirst),
        percent(h3AheadAtLast),
      ]),
    ],
  );
  const markdown = `## What the sweep was made for

Where the two means are equal (linear between the delays that were measured), and what a step of 50 ms adds to each, with 95 %
percentile intervals (bootstrap within each sample).

${table}`;
  return { markdown, summary: { sweep: results } };
}
