import type { Values } from "../analysis/tables/template.ts";
import type { PublishedPoint } from "../analysis/loads/published-series.ts";
import { number, percent, withInterval } from "../analysis/tables/format.ts";
import { PUBLISHED_SWEEP } from "../experiments/latency-sweep/published.ts";
import type { ReturningWay } from "../experiments/latency-sweep/returning.ts";
import { claimed } from "./claimed.ts";
import { crossesAsPublished, endsAsPublished } from "./claims.ts";
import type { FoundCrossover, SweepSummary } from "./recorded.ts";
import { aheadAt, ratioAt, ratiosAt, SIZES } from "./series-figures.ts";
import { seriesTable } from "./series-table.ts";

export function sweepValues(sweep: SweepSummary): Values {
  const at = (series: string, congestion: string) => readingIn(sweep, series, congestion);
  const [oneWay, asRtt] = [at("delay", "cubic"), at("rtt", "cubic")];
  const [first, second, last] = publishedSweep();
  const of = (series: string): SweepSummary["sweep"][number] => {
    const found = readingIn(sweep, series, "cubic");
    if (found === undefined) throw new Error(`There is no reading ${series} of the sweep.`);
    return found;
  };
  const grown = (series: string): string => {
    const found = of(series).growthAfterFirstMs;
    return `${number(found?.h2.estimate)} and ${number(found?.h3.estimate)}`;
  };
  const published = (["h2Ms", "h3Ms"] as const).map((one) => number((last[one] - second[one]) / 2)).join(" and ");
  const both = of("window");
  const bothAhead = claimed(both.h3AheadAtLast < 0 && both.crossover.x === undefined, "HTTP/2 stays ahead");
  return {
    crossing: crossoverText(oneWay?.crossover),
    crossingWithBbr: crossoverText(at("delay", "bbr")?.crossover),
    crossingBehind: crossoverText(oneWay?.crossoverBehind),
    crossingBehindAsRtt: crossoverText(asRtt?.crossoverBehind),
    aheadWithoutDelay: claimed(
      of("delay").h2AheadAtFirst > 0 && of("delay").h3AheadAtLast > 0,
      "HTTP/2 is ahead without delay",
    ),
    aheadPercent: aheadAt(sweep, "0", "delay"),
    publishedBehindMs: number(first.h3Ms - first.h2Ms),
    grownWithRetry: grown("retry"),
    grownWithBoth: grown("window"),
    publishedGrowth: published,
    publishedFirstStepH2: number(second.h2Ms - first.h2Ms),
    publishedFirstStepH3: number(second.h3Ms - first.h3Ms),
    firstStepH2: number(both.firstStepMs.h2),
    firstStepH3: number(both.firstStepMs.h3),
    bothAhead: bothAhead,
    bothAheadPercent: percent(-both.h3AheadAtLast),
    sizes: ratiosAt(sweep, "size-50", SIZES, "cubic"),
    sizesWithBbr: ratiosAt(sweep, "size-50", SIZES, "bbr"),
    lossy: ratioAt(sweep, "loss-50", "5", "cubic"),
    lossyWithBbr: ratioAt(sweep, "loss-50", "5", "bbr"),
    command: sweep.command,
    times: seriesTable(sweep, "delay, ms", PUBLISHED_SWEEP),
    ends: endsAsPublished(of("delay")),
    crosses: crossesAsPublished(of("delay")),
    ...returningValues(sweep),
  };
}

function readingIn(
  { sweep }: SweepSummary,
  series: string,
  congestion: string,
): SweepSummary["sweep"][number] | undefined {
  return sweep.find((one) => one.series === series && one.congestion === congestion);
}

/** The published sweep's first and second point, and its last. */
function publishedSweep(): [PublishedPoint, PublishedPoint, PublishedPoint] {
  const { points } = PUBLISHED_SWEEP;
  const [first, second, last] = [points[0], points[1], points.at(-1)];
  if (first === undefined || second === undefined || last === undefined) throw new Error("The sweep was published.");
  return [first, second, last];
}

function crossoverText(found: FoundCrossover | undefined): string {
  if (found?.x == null) return "none of these delays";
  return `${number(found.x)} ms${found.interval == null ? "" : ` (${number(found.interval[0])} to ${number(found.interval[1])})`}`;
}

/** What a client gains that comes again, at a delay of 50 ms. */
function returningValues({ returning }: SweepSummary): Values {
  const delayMs = 50;
  const at = (way: string, congestion: string): ReturningWay => {
    const found = returning.find((one) => one.way === way && one.delayMs === delayMs && one.congestion === congestion);
    if (found === undefined) throw new Error(`There is no ${way} at ${delayMs} ms with ${congestion}.`);
    return found;
  };
  const ms = (way: string, congestion = "cubic"): string => withInterval(at(way, congestion).loadMs);
  const gain = Math.max(
    ...["cubic", "bbr"].flatMap((congestion) =>
      (["h2", "h3"] as const).map((protocol) =>
        Math.abs(
          at(`${protocol}, first visit`, congestion).loadMs.estimate -
            at(`${protocol}, resumed`, congestion).loadMs.estimate,
        ),
      ),
    ),
  );
  return {
    firstH2: ms("h2, first visit"),
    firstH2WithBbr: ms("h2, first visit", "bbr"),
    firstH3: ms("h3, first visit"),
    resumingMs: number(gain),
    earlyH3: ms("h3, 0-RTT"),
  };
}
