import type { Arm } from "../model/arm.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, withInterval } from "../analysis/tables/format.ts";
import type { Finding } from "../experiments/tcp-congestion/findings.ts";
import { nearLossyText, type Way } from "../experiments/tcp-congestion/findings.ts";
import { TCP_CONGESTION_SOURCE } from "../experiments/tcp-congestion/tables.ts";
import { claimed } from "./claimed.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";

/** Of summary.json, what the page shows of tcp-congestion. */
export interface CongestionSummary {
  readonly command: string;
  readonly findings: readonly Finding[];
  readonly ways: readonly Way[];
  readonly pathBytes: number;
  /** Of pairs of single loads, those in which beta 0.2 is slower than 0.3. */
  readonly slowerShare: number;
  /** HTTP/3's mean over HTTP/2's with bbr. */
  readonly bbrOverH3: Interval;
}

export function tcpCongestionSection({
  command,
  findings,
  ways,
  pathBytes,
  slowerShare,
  bbrOverH3,
}: CongestionSummary): string {
  const way = (cell: string, arm: Arm = "fixed-h2"): Way => {
    const found = ways.find((one) => one.cell === cell && one.arm === arm);
    if (found === undefined) throw new Error(`There is no ${arm} in ${cell}.`);
    return found;
  };
  const seconds = (cell: string, arm?: Arm): string => number(way(cell, arm).group.meanMs.estimate / 1_000);
  const kB = (cell: string, arm?: Arm): string =>
    number((way(cell, arm).traced?.meanWindowBytes ?? Number.NaN) / 1_000);
  const withRatio = (cell: string): string => {
    const { ratio } = way(cell);
    return ratio === undefined ? "-" : withInterval(ratio);
  };
  const times = (cell: string, arm?: Arm): string => number(way(cell, arm).ratio?.estimate);
  return `## TCP's congestion window: twelve images at 64 ms and 0.1 % loss

Published (${TCP_CONGESTION_SOURCE}): no times, but that one connection of HTTP/2
falls behind six of HTTP/1.1 only at high latency with loss, that a low congestion window is why, and that CUBIC with a beta of 0.02 or 0.1 is
faster than with 0.3, and with 0.2 slower (beta is the share of its window that CUBIC gives up at a loss; RFC 9438 counts what it keeps, 0.7).
Here HTTP/2 takes ${seconds("beta-0.3")} s, HTTP/1.1 on six connections ${seconds("beta-0.3", "fixed-h1")} s, HTTP/3 (quic-go) ${seconds("beta-0.3", "fixed-h3")} s, HTTP/2 with bbr
${seconds("bbr")} s. In its first load HTTP/2 with cubic (${number((way("beta-0.3").traced?.loadMs ?? Number.NaN) / 1_000)} s) has a window of ${kB("beta-0.3")} kB on average, where the path holds ${number(pathBytes / 1_000)}. Near is an
RTT of 4 ms, far 64; lossy is 0.1 %; the rate is 100 Mbit/s where nothing else is said.

![Congestion windows over time, of each way to load the page](../bench/results/tcp-congestion/windows.svg)

${figuresTable(
  ["published", "as a ratio of mean times", "measured", ""],
  findings.map(({ published, of, ratio, verdict }) => [
    published,
    of,
    ratio === undefined ? "-" : withInterval(ratio),
    verdict,
  ]),
)}

\`${command}\`; the [report](../bench/results/tcp-congestion/report.md) has all figures.

- **Holds**: ${claimed((way("beta-0.3", "fixed-h1").ratio?.low ?? 0) > 1 && (way("bbr").ratio?.low ?? 0) > 1, "one connection's window is the cause")}. Six of them are ${times("beta-0.3", "fixed-h1")} times as fast, bbr ${times("bbr")}, a first window of 1,000 packets ${times("window-1000")}.
- **Does not hold**: ${claimed((way("beta-0.2").ratio?.low ?? 0) > 1, "that beta 0.2 is slower than 0.3")}: here it is ${times("beta-0.2")} times as fast, although single loads scatter so that of all
  pairs ${number(slowerShare * 100)} % have it slower. Not settled: set while the kernel runs, as here, beta leaves the growth that keeps CUBIC fair to Reno as it was;
  without that growth 0.2 is ${withRatio("unfriendly-0.2")} and 0.3 ${withRatio("unfriendly-0.3")} times as fast as 0.3 with it.
- Near by, with loss, HTTP/2's time over HTTP/1.1's on six is ${nearLossyText(ways)}: the published rate is not told.
- **For an operator**: on this path try bbr for the server's TCP first. It makes HTTP/2 ${withInterval(bbrOverH3)} times as fast as HTTP/3 is with quic-go
  (quiche was not run here), and has the queue drop ${number(way("bbr").droppedQueue)} packets a load, cubic ${number(way("beta-0.3").droppedQueue)}; how fair it is to other traffic was not measured. A
  first window of 1,000 packets gains ${withRatio("window-1000")}, of 100 packets ${withRatio("window-100")}. A beta of 0.02 has a median of ${number(way("beta-0.02").group.medianMs.estimate / 1_000)} s (bbr
  ${number(way("bbr").group.medianMs.estimate / 1_000)}) and a mean of ${seconds("beta-0.02")} s.`;
}
