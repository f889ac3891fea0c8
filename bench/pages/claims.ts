import { OHASHI_NETWORKS } from "../analysis/evaluation/published.ts";
import type { ReplayTable } from "../analysis/replay/replay.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import type { Way } from "../experiments/tcp-congestion/findings.ts";
import type { GridSummary, SeriesSummary, SweepSummary } from "./recorded.ts";
import type { WinnersSummary } from "./winners-table.ts";

/** What the page says of a published finding, as the recorded figures have it. */
export type Verdict = "Holds" | "Does not hold" | "Not shown";

/** "At low rates HTTP/3 wins or ties nearly everywhere": in nine of ten cells of the lowest rate. */
export function lowRates(cells: GridSummary["cells"]): Verdict {
  const slowest = Math.min(...cells.map(({ rateMbps }) => rateMbps));
  const own = cells.filter(({ congestion, rateMbps }) => congestion === "cubic" && rateMbps === slowest);
  return verdict(own.filter(({ winner }) => winner === "h2").length <= own.length / 10);
}

/** "HTTP/2 wins in a region that grows with the rate": no rate has fewer such cells than a lower one, and the highest has more. */
export function growingRegion(cells: GridSummary["cells"]): Verdict {
  const own = cells.filter(({ congestion }) => congestion === "cubic");
  const rates = [...new Set(own.map(({ rateMbps }) => rateMbps))].toSorted((one, other) => one - other);
  const wins = rates.map((rate) => own.filter(({ rateMbps, winner }) => rateMbps === rate && winner === "h2").length);
  const grows = wins.every((count, i) => count >= (wins[i - 1] ?? 0));
  return verdict(grows && (wins.at(-1) ?? 0) > (wins[0] ?? 0));
}

/** "HTTP/3 is faster wherever there is loss and delay, by as much as published or more." */
export function fasterWhereLossyAndFar(evaluation: WinnersSummary, congestion: string): Verdict {
  const found = lossyAndFar(evaluation, congestion);
  if (found.some(({ ratio, published }) => ratio.high < 1 || ratio.high < published)) return "Does not hold";
  return found.length > 0 && found.every(({ ratio }) => ratio.low > 1) ? "Holds" : "Not shown";
}

/** HTTP/3's mean load time over HTTP/2's where there is loss and delay: the least and the most. */
export function h2TimesWhereLossyAndFar(evaluation: WinnersSummary, congestion: string): number[] {
  const times = lossyAndFar(evaluation, congestion).map(({ ratio }) => 1 / ratio.estimate);
  return [Math.min(...times), Math.max(...times)];
}

/** HTTP/2's mean over HTTP/3's, and the published one. */
function lossyAndFar({ cells, gains }: WinnersSummary, congestion: string): { ratio: Interval; published: number }[] {
  return cells.flatMap(({ id, congestion: own, network }) => {
    const gain = gains.find(({ cell }) => cell === id)?.fixedH3;
    const published = OHASHI_NETWORKS.find((one) => one.network === network.name);
    if (own !== congestion || network.lossRatio === 0 || network.delayMs === 0) return [];
    if (gain == null || published === undefined) return [];
    const ratio = { estimate: 1 + gain.estimate, low: 1 + gain.low, high: 1 + gain.high };
    return [{ ratio, published: published.h2Ms / published.h3Ms }];
  });
}

type Reading = SweepSummary["sweep"][number];

/** "HTTP/2 is ahead without delay, HTTP/3 at the longest one." */
export function endsAsPublished({ h2AheadAtFirst, h3AheadAtLast }: Reading): Verdict {
  return verdict(h2AheadAtFirst > 0 && h3AheadAtLast > 0);
}

/** "The two cross at 45 to 50 ms." */
export function crossesAsPublished({ crossover: { interval } }: Reading): Verdict {
  if (interval === undefined) return "Not shown";
  return verdict(interval[0] <= 50 && interval[1] >= 45);
}

type SeriesCell = SeriesSummary["cells"][number];

/** "HTTP/2 is faster at 1 Mbit/s." */
export function slowLine({ ratio }: SeriesCell): Verdict {
  return below(ratio, 1);
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
  const found = [wayAt(ways, "beta-0.3", "fixed-h1"), wayAt(ways, "bbr", "fixed-h2")].map((way) =>
    below(way?.ratio, 1),
  );
  if (found.includes("Holds")) return "Does not hold";
  return found.every((one) => one === "Does not hold") ? "Holds" : "Not shown";
}

/** "CUBIC with a beta of 0.2 is slower than with 0.3." */
export function lowerBeta(ways: readonly Way[]): Verdict {
  return below(wayAt(ways, "beta-0.2", "fixed-h2")?.ratio, 1);
}

function wayAt(ways: readonly Way[], cell: string, arm: string): Way | undefined {
  return ways.find((way) => way.cell === cell && way.arm === arm);
}

/** Mean regrets of the methods that were fitted on this stack, after a visit: each as ours within its interval. */
export function methodsAlike(tables: readonly ReplayTable[]): Verdict {
  const others = aboveOurs(tables, ["the paper's zero line", "wins by two round trips"]);
  if (others.length === 0) return "Not shown";
  return verdict(others.every(({ low, high }) => low <= 0 && high >= 0));
}

/** "Deciding for another server costs more": ours, calibrated for the other congestion control, beyond its interval. */
export function otherStackCosts(tables: readonly ReplayTable[]): Verdict {
  const others = aboveOurs(tables, ["ours, calibrated for the other"]);
  if (others.some(({ high }) => high < 0)) return "Does not hold";
  return others.length > 0 && others.every(({ low }) => low > 0) ? "Holds" : "Not shown";
}

function aboveOurs(tables: readonly ReplayTable[], contenders: readonly string[]): Interval[] {
  return tables
    .filter(({ on, sessions }) => on === "other run" && sessions === "after a visit")
    .flatMap(({ scores }) => scores.filter(({ contender }) => contenders.includes(contender)))
    .map(({ meanAboveOurs }) => meanAboveOurs);
}

/** Where the interval holds the bound, nothing is shown. */
function below(interval: Interval | undefined, bound: number): Verdict {
  if (interval === undefined || (interval.low <= bound && interval.high >= bound)) return "Not shown";
  return verdict(interval.high < bound);
}

function verdict(holds: boolean): Verdict {
  return holds ? "Holds" : "Does not hold";
}
