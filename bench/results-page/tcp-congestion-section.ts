import type { Arm } from "../experiments/arms.ts";
import { figuresTable } from "../report/figures-table.ts";
import { number, withInterval } from "../report/format.ts";
import { type Finding, nearLossyText, type Way } from "../report/tcp-congestion.ts";
import { TCP_CONGESTION_SOURCE } from "../report/tcp-congestion-report.ts";
import type { Interval } from "../stats/bootstrap.ts";

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
  const times = (cell: string, arm?: Arm): string => number(way(cell, arm).ratio?.estimate);
  return `## TCP's congestion window: twelve images at 64 ms and 0.1 % loss

Published (${TCP_CONGESTION_SOURCE}): no times, but that one connection of HTTP/2
falls behind six of HTTP/1.1 only at high latency with loss, that a low congestion window is why, and that CUBIC with a beta of 0.02 or 0.1 is
faster than with 0.3, and with 0.2 slower. Here HTTP/2 takes ${seconds("beta-0.3")} s, HTTP/1.1 on six connections ${seconds("beta-0.3", "fixed-h1")} s, HTTP/3 (quic-go) ${seconds("beta-0.3", "fixed-h3")} s, HTTP/2 with bbr
${seconds("bbr")} s: in the first load over HTTP/2 with cubic the window is ${kB("beta-0.3")} kB on average, where the path holds ${number(pathBytes / 1_000)}.

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

- **Holds**: one connection's window is the cause. Six of them are ${times("beta-0.3", "fixed-h1")} times as fast, bbr ${times("bbr")}, a first window of 1,000 packets ${times("window-1000")}.
- **Does not hold**: that beta 0.2 is slower than 0.3: here it is ${times("beta-0.2")} times as fast, although single loads scatter so that of all
  pairs ${number(slowerShare * 100)} % have it slower. Near by, with loss, HTTP/2's time over HTTP/1.1's on six is
  ${nearLossyText(ways)}: the published rate is not told.
- **For an operator**: before HTTP/3, bbr: on this path it makes HTTP/2 ${withInterval(bbrOverH3)} times as fast as HTTP/3 is with quic-go. A
  larger first window gains ${times("window-1000")}; a beta of 0.02 gains as much as bbr in its median (${number(way("beta-0.02").group.medianMs.estimate / 1_000)} s) and not in its mean (${seconds("beta-0.02")} s). How fair
  either is to other traffic was not measured.`;
}
