import { meanText, SECONDS } from "../analysis/loads/mean-text.ts";
import type { PublishedSeries } from "../analysis/loads/published-series.ts";
import type { SeriesCell } from "../analysis/loads/series-cells.ts";
import { sideVerdict } from "../analysis/statistics/verdict.ts";
import { number, percent, size, withInterval } from "../analysis/tables/format.ts";
import { PUBLISHED_LIMITS } from "../experiments/bandwidth-limits/published.ts";
import { crossoverText, PUBLISHED, type SweepReading } from "../experiments/latency-sweep/findings.ts";
import { PUBLISHED_SWEEP } from "../experiments/latency-sweep/published.ts";
import type { ReturningWay } from "../experiments/latency-sweep/returning.ts";
import { ratiosTable } from "../harness/loads/series.ts";
import { claimed, crossesAsPublished, endsAsPublished, variesAsPublished } from "./claims.ts";
import { known, type Recorded } from "./recorded.ts";

export function limitsValues(limits: Recorded["limits"]) {
  const published = cellAt(limits, "limits", "10 Mbit/s, 50 ms");
  return {
    ...seriesFigures(limits, "limit", PUBLISHED_LIMITS),
    loads: published.h3?.n,
    timeouts: published.h3?.timeouts,
    slowLine: sideVerdict(cellAt(limits, "limits", "1 Mbit/s").ratio, "below"),
    varying: variesAsPublished(published),
  };
}

export function sweepValues(sweep: Recorded["sweep"]) {
  const reading = (series: string, congestion = "cubic"): SweepReading => {
    const found = sweep.sweep.find((one) => one.series === series && one.congestion === congestion);
    return known(found, `the reading ${series} of the sweep with ${congestion}`);
  };
  const both = reading("window");
  const growth = ({ h2, h3 }: { h2: number | undefined; h3: number | undefined }): string =>
    `${number(h2)} and ${number(h3)}`;
  return {
    ...seriesFigures(sweep, "delay, ms", PUBLISHED_SWEEP),
    crossing: (congestion: string) => crossoverText(reading("delay", congestion).crossover),
    crossingBehind: (series: string) => crossoverText(reading(series).crossoverBehind),
    aheadWithoutDelay: claimed(endsAsPublished(reading("delay")) === "Holds", "HTTP/2 is ahead without delay"),
    publishedBehindMs: number(PUBLISHED.behindMs),
    grown: (series: string) => {
      const found = reading(series).growthAfterFirstMs;
      return growth({ h2: found?.h2.estimate, h3: found?.h3.estimate });
    },
    publishedGrowth: growth(PUBLISHED.growthAfterFirstMs),
    publishedFirstStep: growth(PUBLISHED.firstStepMs),
    firstStep: growth(both.firstStepMs),
    bothAhead: claimed(both.h3AheadAtLast < 0 && both.crossover.x === undefined, "HTTP/2 stays ahead"),
    bothAheadPercent: percent(-both.h3AheadAtLast),
    ends: endsAsPublished(reading("delay")),
    crosses: crossesAsPublished(reading("delay")),
    ...returningValues(sweep),
  };
}

/** What the pages name of an experiment's series: with cubic unless another congestion control is given. */
function seriesFigures(summary: Recorded["limits"], head: string, published: PublishedSeries) {
  const { command, cells } = summary;
  const ratio = (series: string, label: string, congestion?: string): number =>
    known(cellAt(summary, series, label, congestion).ratio, `the ratio of ${series} at ${label}`).estimate;
  return {
    command,
    times: ratiosTable(
      head,
      cells.filter(({ series }) => series === published.series),
      published,
      SECONDS,
    ),
    ratio: (series: string, label: string, congestion?: string) => number(ratio(series, label, congestion)),
    /** How much faster HTTP/2 is. */
    ahead: (series: string, label: string) => percent(1 / ratio(series, label) - 1),
    /** `1.76 at 10 kB, 1.50 at 100 kB` */
    sizes: (series: string, congestion: string) =>
      cells
        .filter((cell) => cell.series === series && cell.congestion === congestion)
        .map(({ label, bytes }) => `${number(ratio(series, label, congestion))} at ${size(bytes)}`)
        .join(", "),
    meanS: (series: string, label: string, protocol: "h2" | "h3") =>
      meanText(cellAt(summary, series, label)[protocol], SECONDS),
    deviationMs: (series: string, label: string, protocol: "h2" | "h3") =>
      number(cellAt(summary, series, label)[protocol]?.sdMs),
  };
}

function cellAt({ cells }: Recorded["limits"], series: string, label: string, congestion = "cubic"): SeriesCell {
  const found = cells.find((cell) => cell.series === series && cell.label === label && cell.congestion === congestion);
  return known(found, `${label} in ${series} with ${congestion}`);
}

/** What a client gains that comes again, at a delay of 50 ms. */
function returningValues({ returning }: Recorded["sweep"]) {
  const at = (way: string, congestion = "cubic"): ReturningWay => {
    const found = returning.find((one) => one.way === way && one.delayMs === 50 && one.congestion === congestion);
    return known(found, `${way} at 50 ms with ${congestion}`);
  };
  const gains = ["cubic", "bbr"].flatMap((congestion) =>
    ["h2", "h3"].map((protocol) => {
      const [first, resumed] = ["first visit", "resumed"].map((way) => at(`${protocol}, ${way}`, congestion).loadMs);
      return Math.abs((first?.estimate ?? Number.NaN) - (resumed?.estimate ?? Number.NaN));
    }),
  );
  return {
    visit: (way: string, congestion?: string) => withInterval(at(way, congestion).loadMs),
    resumingMs: number(Math.max(...gains)),
  };
}
