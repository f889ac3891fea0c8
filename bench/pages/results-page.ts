import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, percent, size, withInterval } from "../analysis/tables/format.ts";
import { OHASHI_NETWORKS } from "../analysis/evaluation/published.ts";
import type { PublishedPoint, PublishedSeries } from "../analysis/loads/published-series.ts";
import { PUBLISHED_LIMITS } from "../experiments/bandwidth-limits/published.ts";
import { PUBLISHED_SWEEP } from "../experiments/latency-sweep/published.ts";
import type { ReturningWay } from "../experiments/latency-sweep/returning.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { claimed } from "./claimed.ts";
import { browserSection } from "./browser-section.ts";
import { memorySection } from "./memory-section.ts";
import { quicPoliciesSection } from "./quic-policies-section.ts";
import { stacksSection } from "./stacks-section.ts";
import { tcpCongestionSection } from "./tcp-congestion-section.ts";
import type { FoundCrossover, GridSummary, Recorded, SeriesSummary, SweepSummary, Timed } from "./recorded.ts";

const PUBLISHED_SERIES: Readonly<Record<string, PublishedSeries>> = {
  "bandwidth-limits": PUBLISHED_LIMITS,
  "latency-sweep": PUBLISHED_SWEEP,
};

/** docs/results.md: every published experiment that was run here, beside its published table. */
export function resultsPage(recorded: Recorded): string {
  const { grid, evaluation, sweep, limits, congestion, browser, stacks, quicEvaluations, memory } = recorded;
  return `# Results: published beside measured

Each published measurement that this project starts from, run here with one command, on an emulated path between a real server and a
real client of one machine (2 cores). "h2 / h3" is HTTP/2's mean load time over HTTP/3's: above 1 HTTP/3 is faster; in brackets its 95 %
interval. The server's TCP has cubic or bbr; its QUIC is quic-go's, Reno-like, in both, where nothing else is said. \`npm run bench -- results\` makes this page of
the recorded runs in [bench/results](../bench/results/README.md), and a test fails where it says otherwise.

## Where each protocol wins, over rate, loss and delay

${gridText(grid)}

![Heat maps over delay and loss for five rates, TCP with cubic](../bench/results/ohashi-grid/gain-cubic.svg)

${gridTable(grid)}

${commandText(grid.command, "ohashi-grid")}

${gridFindings(grid)}

## Nine networks at 200 Mbit/s

The published evaluation: an object on nine paths. What was published is 10 MB; here those with loss, and those without delay, have 1 MB,
so compare ratios.

![Load times of all arms in the nine networks, TCP with cubic](../bench/results/ohashi-evaluation/load-times-trained-cubic.svg)

${evaluationTable(evaluation)}

${commandText(evaluation.command, "ohashi-evaluation")}

- **Holds**: with cubic, HTTP/3 is faster wherever there is loss and delay, by as much as published or more.
- **Does not hold**: with bbr the same networks go to HTTP/2, by three to five times.
- **For an operator**: what deciding saves, and costs, is in the [README](../README.md#what-deciding-saves).

## Latency: 1 MB at 5 Mbit/s

${sweepText(sweep)}

![HTTP/2's mean load time over HTTP/3's, over delay](../bench/results/latency-sweep/ratio-delay.svg)

${seriesTable(sweep, "latency-sweep")}

${commandText(sweep.command, "latency-sweep")}

${sweepFindings(sweep)}

## Bandwidth: 10 MB behind a limit

${limitsText(limits)}

![HTTP/2's mean load time over HTTP/3's, by limit](../bench/results/bandwidth-limits/ratio-limits.svg)

${seriesTable(limits, "bandwidth-limits")}

${commandText(limits.command, "bandwidth-limits")}

${limitsFindings(limits)}

${tcpCongestionSection(congestion)}

${browserSection(browser)}

${stacksSection(stacks)}

${quicPoliciesSection(quicEvaluations)}

${memorySection(memory)}
`;
}

function commandText(command: string, experiment: string): string {
  return `\`${command}\`; the [report](../bench/results/${experiment}/report.md) has all figures.`;
}

function gridText({ cells }: GridSummary): string {
  const rates = [...new Set(cells.map(({ rateMbps }) => rateMbps))];
  return `The published grid: ${cells.length} cells, ${rates.length} rates with 36 pairs of loss (0 to 5 %) and one-way delay (0 to 25 ms) each, for each congestion control; objects
of 1 MB instead of 10. A cell is a tie where its interval holds 1.`;
}

function gridTable({ cells }: GridSummary): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const rates = [...new Set(cells.map(({ rateMbps }) => rateMbps))].toSorted((one, other) => one - other);
  const rows = rates.map((rate) => [
    `${rate} Mbit/s`,
    ...congestions.flatMap((congestion) =>
      (["h3", "h2", "tie"] as const).map((winner) =>
        String(
          cells.filter((cell) => cell.congestion === congestion && cell.rateMbps === rate && cell.winner === winner)
            .length,
        ),
      ),
    ),
  ]);
  return figuresTable(
    ["rate", ...congestions.flatMap((name) => [`${name}: HTTP/3 wins`, "HTTP/2 wins", "ties"])],
    rows,
  );
}

function evaluationTable({ cells, gains }: Recorded["evaluation"]): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const rows = OHASHI_NETWORKS.map(({ network, h2Ms, h3Ms }) => {
    const own = cells.filter((cell) => cell.network.name === network);
    const [first] = own;
    return [
      first === undefined
        ? network
        : `${Number((first.network.lossRatio * 100).toFixed(2))} %, ${first.network.delayMs} ms, ${size(first.imageBytes)}`,
      number(h2Ms / h3Ms),
      ...congestions.map((congestion) => {
        const cell = own.find((one) => one.congestion === congestion);
        const gain = gains.find((one) => one.cell === cell?.id)?.fixedH3;
        return gain == null ? "-" : ratioText({ estimate: 1 + gain.estimate, low: 1 + gain.low, high: 1 + gain.high });
      }),
    ];
  });
  return figuresTable(["loss, delay one way, object", "published: h2 / h3", ...congestions], rows);
}

/** The series that has a published one, beside it. */
function seriesTable({ cells }: SeriesSummary, experiment: string): string {
  const published = PUBLISHED_SERIES[experiment];
  if (published === undefined) throw new Error(`Nothing was published of ${experiment}.`);
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const labels = [...new Set(cells.flatMap(({ series, label }) => (series === published.series ? [label] : [])))];
  const rows = labels.map((label) => [
    label,
    ...publishedCells(published.points.find((point) => point.label === label)),
    ...congestions.flatMap((congestion) => {
      const cell = cells.find(
        (one) => one.series === published.series && one.label === label && one.congestion === congestion,
      );
      // Of loads that kept a core busy the machine's time is told, and no ratio.
      if (cell?.ratio === undefined) return [...[cell?.h2, cell?.h3].map(busyText), "-"];
      return [...[cell.h2, cell.h3].map((group) => secondsText(group?.meanMs.estimate)), ratioText(cell.ratio)];
    }),
  ]);
  const heads = [
    "published: h2 s",
    "h3 s",
    "h2 / h3",
    ...congestions.flatMap((name) => [`${name}: h2 s`, "h3 s", "h2 / h3"]),
  ];
  return figuresTable([experiment === "latency-sweep" ? "delay, ms" : "limit", ...heads], rows);
}

function publishedCells(point: PublishedPoint | undefined): string[] {
  if (point === undefined) return ["-", "-", "-"];
  const { h2Ms, h3Ms } = point;
  return [secondsText(h2Ms), secondsText(h3Ms), number(h2Ms / h3Ms)];
}

function secondsText(ms: number | null | undefined): string {
  return ms == null ? "-" : number(ms / 1000);
}

function busyText(group: Timed | undefined): string {
  return group?.busyMeanMs == null ? "-" : `busy: ${secondsText(group.busyMeanMs)}`;
}

function readingIn(
  { sweep }: SweepSummary,
  series: string,
  congestion: string,
): SweepSummary["sweep"][number] | undefined {
  return sweep.find((one) => one.series === series && one.congestion === congestion);
}

function sweepText(summary: SweepSummary): string {
  const at = (series: string, congestion: string) => readingIn(summary, series, congestion);
  const [oneWay, asRtt] = [at("delay", "cubic"), at("rtt", "cubic")];
  const { h2Ms, h3Ms } = publishedSweep()[0];
  return `Published: HTTP/2 is 5.4 % faster without delay, the two cross at 45 to 50 ms, HTTP/3 is 0.9 % faster at 150 ms. Here they cross at
${crossoverText(oneWay?.crossover)} with cubic and at ${crossoverText(at("delay", "bbr")?.crossover)} with bbr, by a straight line between 0 and 50 ms. If HTTP/3
were ${number(h3Ms - h2Ms)} ms behind at 0 ms, as published, and everywhere by as much more than it is, the crossing would be at ${crossoverText(oneWay?.crossoverBehind)} (delay one
way) or ${crossoverText(asRtt?.crossoverBehind)} (delay as RTT), with cubic.`;
}

/** The published sweep's first and second point, and its last. */
function publishedSweep(): [PublishedPoint, PublishedPoint, PublishedPoint] {
  const { points = [] } = PUBLISHED_SERIES["latency-sweep"] ?? {};
  const [first, second, last] = [points[0], points[1], points.at(-1)];
  if (first === undefined || second === undefined || last === undefined) throw new Error("The sweep was published.");
  return [first, second, last];
}

function crossoverText(found: FoundCrossover | undefined): string {
  if (found?.x == null) return "none of these delays";
  return `${number(found.x)} ms${found.interval == null ? "" : ` (${number(found.interval[0])} to ${number(found.interval[1])})`}`;
}

function limitsText(limits: SeriesSummary): string {
  const { h3 } = cellAt(limits, "limits", "10 Mbit/s, 50 ms", "cubic");
  return `Published, of one to three tries each: equal without a limit, HTTP/2 3 % faster at 1 Mbit/s, and at 10 Mbit/s with 50 ms HTTP/3 faster to
start, but varying (9.5 to 18.6 s, HTTP/2 11 to 14), at times timing out. Here ${h3?.n} loads over HTTP/3 at 10 Mbit/s and 50 ms (beside cubic) took ${number((h3?.meanMs.estimate ?? Number.NaN) / 1000)} s with a standard
deviation of ${number(h3?.sdMs)} ms; ${h3?.timeouts} timed out.`;
}

function limitsFindings(limits: SeriesSummary): string {
  const short = cellAt(limits, "queue", "30", "cubic").h2;
  const far = cellAt(limits, "limits", "10 Mbit/s, 50 ms", "cubic").h2;
  return `- **Holds**: at 1 Mbit/s HTTP/2 is ahead, though by ${aheadAt(limits, "1 Mbit/s")} (cubic) and not by 3 %. Without a limit the published times are those of a
  line of 100 Mbit/s; there HTTP/2 is ahead by ${aheadAt(limits, "100 Mbit/s")}, where published are times that are equal within 5 %.
- **Does not hold**: that HTTP/3 varies, and HTTP/2's 11 to 14 s. A short queue makes a part of the latter: with one of 30 kB instead of 1.5 MB
  HTTP/2 with cubic takes ${secondsText(short?.meanMs.estimate)} s with a deviation of ${number(short?.sdMs)} ms, instead of ${secondsText(far?.meanMs.estimate)} s and ${number(far?.sdMs)} ms. No queue here makes HTTP/3
  take 18.6 s, as one of three tries did.
- **For an operator**: on a clean path HTTP/3 saves its handshake and starts faster, which counts in small files: ${ratiosAt(limits, "size", [["1", "1 kB"], ...SIZES.slice(1)], "cubic")} (10 Mbit/s, 50 ms, cubic),
  and ${ratioAt(limits, "connection", "reused", "cubic")} for 1 MB over a connection that is there already. A client that
  opens a new TCP connection when half of 10 MB is there, and asks for the rest, takes ${ratioAt(limits, "connection", "moved", "cubic")} times as long as one that moves over QUIC, and ${ratioAt(limits, "limits", "10 Mbit/s, 50 ms", "cubic")}
  where neither moves. With loss it is the server's TCP: 1 MB at 5 % ${ratioAt(limits, "loss", "5", "cubic")} with cubic, ${ratioAt(limits, "loss", "5", "bbr")}
  with bbr.`;
}

function gridFindings({ cells }: GridSummary): string {
  type Where = (cell: GridSummary["cells"][number]) => boolean;
  const count = (congestion: string, winner: string | undefined, where: Where): number =>
    cells.filter(
      (cell) => cell.congestion === congestion && (winner === undefined || cell.winner === winner) && where(cell),
    ).length;
  const slowest = Math.min(...cells.map(({ rateMbps }) => rateMbps));
  const anywhere: Where = () => true;
  const slow: Where = ({ rateMbps }) => rateMbps === slowest;
  const near: Where = ({ delayMs }) => delayMs === 0;
  const lossyAndFar: Where = ({ delayMs, lossPercent }) => delayMs > 0 && lossPercent > 0;
  return `- **Holds**: at low rates HTTP/3 wins or ties nearly everywhere against cubic (of ${count("cubic", undefined, slow)} cells of ${slowest} Mbit/s HTTP/2 wins ${count("cubic", "h2", slow)}).
- **Does not hold**: that HTTP/2 wins in a region that grows with the rate. Against cubic it wins ${count("cubic", "h2", anywhere)} cells, ${count("cubic", "h2", near)} of them among the ${count("cubic", undefined, near)}
  without delay; with bbr it wins ${count("bbr", "h2", lossyAndFar)} of the ${count("bbr", undefined, lossyAndFar)} that have loss and delay, and HTTP/3 ${count("bbr", "h3", lossyAndFar)}.
- **For an operator**: look at the server's TCP before anything else.`;
}

function sweepFindings(sweep: SweepSummary): string {
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
  return `- **Holds**: ${claimed(of("delay").h2AheadAtFirst > 0 && of("delay").h3AheadAtLast > 0, "HTTP/2 is ahead without delay")}, though by ${aheadAt(sweep, "0", "delay")} (cubic) and not by 5.4 %, and HTTP/3 the more, the longer the delay.
- **Does not hold**: how much, and from where on. Here HTTP/3 saves the round trip of its handshake, and begins with 32 packets, where TCP
  begins with 10. In the published table HTTP/3 is ${number(first.h3Ms - first.h2Ms)} ms behind at 0 ms, and from 50 ms on the two are within 1 %: it gains about
  100 ms once, and nothing after. Nothing that was tried here does that.
- **Tried on the wire** for the published growth: a server that has every client prove its address by a Retry, which costs HTTP/3 a round
  trip; and besides, a first window for TCP of as many packets as quic-go's. From 50 ms on, 50 ms more add ${grown("retry")} ms over HTTP/2
  and HTTP/3 with the Retry (cubic), and ${grown("window")} with both; published are ${published}. With both the two grow alike, as
  published, but by more a step; and the first step, published ${number(second.h2Ms - first.h2Ms)} and ${number(second.h3Ms - first.h3Ms)} ms, is ${number(both.firstStepMs.h2)} and ${number(both.firstStepMs.h3)}. ${bothAhead} then, by
  ${percent(-both.h3AheadAtLast)} at 150 ms. Whether the published server had either is not told.
- **For an operator**: h2 / h3 by size at 50 ms without loss is ${ratiosAt(sweep, "size-50", SIZES, "cubic")} with cubic,
  and ${ratiosAt(sweep, "size-50", SIZES, "bbr")} with bbr. With
  loss and delay it is the server's TCP again: at 5 % and 50 ms ${ratioAt(sweep, "loss-50", "5", "cubic")} with cubic, ${ratioAt(sweep, "loss-50", "5", "bbr")} with bbr.
- ${returningText(sweep)}`;
}

/** Both experiments' sizes of files, as their series label them. */
const SIZES = [
  ["10", "10 kB"],
  ["100", "100 kB"],
  ["1000", "1 MB"],
  ["10000", "10 MB"],
] as const;

/** What a client gains that comes again, at a delay of 50 ms. */
function returningText({ returning }: SweepSummary): string {
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
  return `**A client that comes again**: a first visit for 10 kB at ${delayMs} ms takes ${ms("h2, first visit")} ms over HTTP/2 with cubic, ${ms("h2, first visit", "bbr")} with bbr, and
  ${ms("h3, first visit")} over HTTP/3. Resuming TLS changes neither by more than ${number(gain)} ms. Asked for in 0-RTT, HTTP/3 takes ${ms("h3, 0-RTT")} ms; HTTP/2 was
  not tried in 0-RTT, as Go's TLS has none over TCP. Our edge takes no 0-RTT unless told: anybody may send such a request again (RFC 8470).`;
}

/** `1.76 at 10 kB, 1.50 at 100 kB` */
function ratiosAt(
  summary: SeriesSummary,
  series: string,
  labels: readonly (readonly [string, string])[],
  congestion: string,
): string {
  return labels.map(([label, name]) => `${ratioAt(summary, series, label, congestion)} at ${name}`).join(", ");
}

/** How much faster HTTP/2 is, with cubic. */
function aheadAt(summary: SeriesSummary, label: string, series = "limits"): string {
  return percent(1 / (cellAt(summary, series, label, "cubic").ratio?.estimate ?? Number.NaN) - 1);
}

type SeriesCell = SeriesSummary["cells"][number];

function cellAt({ cells }: SeriesSummary, series: string, label: string, congestion: string): SeriesCell {
  const found = cells.find((cell) => cell.series === series && cell.label === label && cell.congestion === congestion);
  if (found === undefined) throw new Error(`There is no ${label} in ${series} with ${congestion}.`);
  return found;
}

function ratioAt(summary: SeriesSummary, series: string, label: string, congestion: string): string {
  const { ratio } = cellAt(summary, series, label, congestion);
  if (ratio === undefined) throw new Error(`There is no ratio of ${series} at ${label} with ${congestion}.`);
  return number(ratio.estimate);
}

function ratioText({ estimate, low, high }: Interval): string {
  return `${number(estimate)} (${number(low)} to ${number(high)})`;
}
