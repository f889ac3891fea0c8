import type { Values } from "../analysis/tables/template.ts";
import type { Arm } from "../model/arm.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, withInterval } from "../analysis/tables/format.ts";
import { nearLossyText, type Way } from "../experiments/tcp-congestion/findings.ts";
import { TCP_CONGESTION_SOURCE } from "../experiments/tcp-congestion/tables.ts";
import { claimed } from "./claimed.ts";
import type { CongestionSummary } from "./recorded.ts";
import { lowerBeta, oneWindow } from "./claims.ts";

export function congestionValues({
  command,
  findings,
  ways,
  pathBytes,
  slowerShare,
  bbrOverH3,
}: CongestionSummary): Values {
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
  return {
    window: oneWindow(ways),
    lowerBeta: lowerBeta(ways),
    source: TCP_CONGESTION_SOURCE,
    h2S: seconds("beta-0.3"),
    h1S: seconds("beta-0.3", "fixed-h1"),
    h3S: seconds("beta-0.3", "fixed-h3"),
    bbrS: seconds("bbr"),
    tracedS: number((way("beta-0.3").traced?.loadMs ?? Number.NaN) / 1_000),
    windowKB: kB("beta-0.3"),
    pathKB: number(pathBytes / 1_000),
    findings: figuresTable(
      ["published", "as a ratio of mean times", "measured", ""],
      findings.map(({ published, of, ratio, verdict }) => [
        published,
        of,
        ratio === undefined ? "-" : withInterval(ratio),
        verdict,
      ]),
    ),
    command: command,
    windowIsTheCause: claimed(
      (way("beta-0.3", "fixed-h1").ratio?.low ?? 0) > 1 && (way("bbr").ratio?.low ?? 0) > 1,
      "one connection's window is the cause",
    ),
    sixTimes: times("beta-0.3", "fixed-h1"),
    bbrTimes: times("bbr"),
    window1000Times: times("window-1000"),
    lowerBetaIsSlower: claimed((way("beta-0.2").ratio?.low ?? 0) > 1, "that beta 0.2 is slower than 0.3"),
    lowerBetaTimes: times("beta-0.2"),
    slowerPercent: number(slowerShare * 100),
    unfriendly2: withRatio("unfriendly-0.2"),
    unfriendly3: withRatio("unfriendly-0.3"),
    nearLossy: nearLossyText(ways),
    bbrOverH3: withInterval(bbrOverH3),
    bbrDropped: number(way("bbr").droppedQueue),
    cubicDropped: number(way("beta-0.3").droppedQueue),
    window1000: withRatio("window-1000"),
    window100: withRatio("window-100"),
    lowBetaMedianS: number(way("beta-0.02").group.medianMs.estimate / 1_000),
    bbrMedianS: number(way("bbr").group.medianMs.estimate / 1_000),
    lowBetaS: seconds("beta-0.02"),
  };
}
