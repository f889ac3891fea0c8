import { OHASHI_NETWORKS } from "../analysis/evaluation/published.ts";
import type { SeriesCell } from "../analysis/loads/series-cells.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { allVerdict, sideVerdict, type Verdict, verdict } from "../analysis/statistics/verdict.ts";
import type { Way } from "../experiments/tcp-congestion/findings.ts";
import { plusOne } from "./network-tables.ts";
import type { Recorded, RecordedEvaluation } from "./recorded.ts";

/** What the page says of figures, which it must not where they say otherwise. @throws where they do */
export function claimed(holds: boolean, text: string): string {
  if (!holds) throw new Error(`The page says "${text}", and the recorded figures do not.`);
  return text;
}

/** "At low rates HTTP/3 wins or ties nearly everywhere": in nine of ten cells of the lowest rate. */
export function lowRates(cells: Recorded["grid"]["cells"]): Verdict {
  const slowest = Math.min(...cells.map(({ rateMbps }) => rateMbps));
  const own = cells.filter(({ congestion, rateMbps }) => congestion === "cubic" && rateMbps === slowest);
  return verdict(own.filter(({ winner }) => winner === "h2").length <= own.length / 10);
}

/** "HTTP/2 wins in a region that grows with the rate": no rate has fewer such cells than a lower one, and the highest has more. */
export function growingRegion(cells: Recorded["grid"]["cells"]): Verdict {
  const byRate = Map.groupBy(
    cells.filter(({ congestion }) => congestion === "cubic"),
    ({ rateMbps }) => rateMbps,
  );
  const wins = [...byRate]
    .toSorted(([one], [other]) => one - other)
    .map(([, own]) => own.filter(({ winner }) => winner === "h2").length);
  const grows = wins.every((count, i) => count >= (wins[i - 1] ?? 0));
  return verdict(grows && (wins.at(-1) ?? 0) > (wins[0] ?? 0));
}

type Gains = Pick<RecordedEvaluation, "cells" | "gains">;

/** "HTTP/3 is faster wherever there is loss and delay, by as much as published or more." */
export function fasterWhereLossyAndFar(evaluation: Gains, congestion: string): Verdict {
  return allVerdict(
    lossyAndFar(evaluation, congestion).map(({ ratio, published }) =>
      ratio.high < published ? "Does not hold" : sideVerdict(ratio, "above"),
    ),
  );
}

/** HTTP/3's mean load time over HTTP/2's where there is loss and delay: the least and the most. */
export function h2TimesWhereLossyAndFar(evaluation: Gains, congestion: string): number[] {
  const times = lossyAndFar(evaluation, congestion).map(({ ratio }) => 1 / ratio.estimate);
  return [Math.min(...times), Math.max(...times)];
}

/** HTTP/2's mean over HTTP/3's, and the published one. */
function lossyAndFar({ cells, gains }: Gains, congestion: string): { ratio: Interval; published: number }[] {
  return cells.flatMap(({ id, congestion: own, network }) => {
    const ratio = plusOne(gains.find(({ cell }) => cell === id)?.fixedH3);
    const published = OHASHI_NETWORKS.find((one) => one.network === network.name);
    if (own !== congestion || network.lossRatio === 0 || network.delayMs === 0) return [];
    return ratio === undefined || published === undefined
      ? []
      : [{ ratio, published: published.h2Ms / published.h3Ms }];
  });
}

type Reading = Recorded["sweep"]["sweep"][number];

/** "HTTP/2 is ahead without delay, HTTP/3 at the longest one." */
export function endsAsPublished({ h2AheadAtFirst, h3AheadAtLast }: Reading): Verdict {
  return verdict(h2AheadAtFirst > 0 && h3AheadAtLast > 0);
}

/** "The two cross at 45 to 50 ms." */
export function crossesAsPublished({ crossover: { interval } }: Pick<Reading, "crossover">): Verdict {
  return interval === undefined ? "Not shown" : verdict(interval[0] <= 50 && interval[1] >= 45);
}

/** "HTTP/3 takes 9.5 to 18.6 s, HTTP/2 11 to 14": both within two standard deviations of their mean. */
export function variesAsPublished({ h2, h3 }: SeriesCell): Verdict {
  if (h2 === undefined || h3 === undefined) return "Not shown";
  const reaches = ({ meanMs, sdMs }: typeof h2, from: number, to: number): boolean =>
    meanMs.estimate - 2 * sdMs <= from && meanMs.estimate + 2 * sdMs >= to;
  return verdict(reaches(h3, 9_500, 18_600) && reaches(h2, 11_000, 14_000));
}

/** "A low window of the one connection is the cause": more connections, and bbr, are faster. */
export function oneWindow(ways: readonly Way[]): Verdict {
  const causes = ways.filter(
    ({ cell, arm }) => (cell === "beta-0.3" && arm === "fixed-h1") || (cell === "bbr" && arm === "fixed-h2"),
  );
  return allVerdict(causes.map(({ ratio }) => sideVerdict(ratio, "above")));
}
