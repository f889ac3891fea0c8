import { halve } from "../statistics/halves.ts";
import { integer, type Random } from "../statistics/random.ts";
import { mean, quantileOfSorted } from "../statistics/summary.ts";

/** What a contender does in one cell, and what that leads to, of any resample of the loads. */
export interface Played {
  readonly cell: string;
  /** Loads of the two constant choices. */
  readonly stay: readonly (readonly number[])[];
  readonly switch: readonly (readonly number[])[];
  /** By contender: the time expected of it, given means of pages of both choices. */
  readonly expected: Readonly<Record<string, (stay: readonly number[], switched: readonly number[]) => number>>;
}

export interface Score {
  readonly contender: string;
  readonly mean: number;
  readonly p95: number;
  readonly worst: number;
  readonly worstCell: string;
  /** Share of cells, of those that are no tie, in which more is lost than half of what a wrong choice costs. */
  readonly wrongShare: number;
  /** Of this contender less ours; the interval is of 95 %, over resampled loads. */
  readonly meanAboveOurs: Interval;
  readonly worstAboveOurs: Interval;
}

interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/** Differences between the two constant choices below this are no choice that could be wrong. */
const TIE = 0.05;

/**
 * Scores contenders on recorded cells: the time expected of each over the better constant choice, less one. Which choice
 * is the better one is told by one half of the loads, what it takes by the other (in both directions), so that noise is
 * not counted as regret; over so many random halvings. Intervals resample the loads of every cell.
 */
export function scoreAll(played: readonly Played[], ours: string, random: Random, resamples = 300): Score[] {
  const contenders = Object.keys(played[0]?.expected ?? {});
  const splits = Array.from({ length: 20 }, () => regretsOf(played, contenders, random, false));
  const drawn = Array.from({ length: resamples }, () => regretsOf(played, contenders, random, true));
  const averaged = new Map(
    contenders.map((contender) => [
      contender,
      played.map((_, i) => mean(splits.map((regrets) => regrets.get(contender)?.[i]?.regret ?? Number.NaN))),
    ]),
  );
  return contenders.map((contender) => {
    const regrets = averaged.get(contender) ?? [];
    const own = averaged.get(ours) ?? [];
    const sorted = Float64Array.from(regrets).sort();
    const worst = Math.max(...regrets);
    const decided = splits.flatMap((split) => (split.get(contender) ?? []).filter(({ atStake }) => atStake > TIE));
    const difference = (figure: (values: readonly number[]) => number): Interval => {
      const values = drawn.map(
        (one) =>
          figure((one.get(contender) ?? []).map(({ regret }) => regret)) -
          figure((one.get(ours) ?? []).map(({ regret }) => regret)),
      );
      const ordered = Float64Array.from(values).sort();
      return {
        estimate: figure(regrets) - figure(own),
        low: quantileOfSorted(ordered, 0.025),
        high: quantileOfSorted(ordered, 0.975),
      };
    };
    return {
      contender,
      mean: mean(regrets),
      p95: quantileOfSorted(sorted, 0.95),
      worst,
      worstCell: played[regrets.indexOf(worst)]?.cell ?? "",
      wrongShare: mean(decided.map(({ regret, atStake }) => (regret > atStake / 2 ? 1 : 0))),
      meanAboveOurs: difference(mean),
      worstAboveOurs: difference((values) => Math.max(...values)),
    };
  });
}

interface CellScore {
  readonly regret: number;
  /** What the worse constant choice costs. */
  readonly atStake: number;
}

function regretsOf(
  played: readonly Played[],
  contenders: readonly string[],
  random: Random,
  resampling: boolean,
): Map<string, CellScore[]> {
  const scores = new Map<string, CellScore[]>(contenders.map((contender) => [contender, []]));
  for (const { stay, switch: switched, expected } of played) {
    const stays = halfMeans(stay, random, resampling);
    const switches = halfMeans(switched, random, resampling);
    for (const contender of contenders) {
      const directions = ([0, 1] as const).map((choose): CellScore => {
        const score = choose === 0 ? 1 : 0;
        const stayIsBetter = sum(stays[choose]) <= sum(switches[choose]);
        const better = sum(stayIsBetter ? stays[score] : switches[score]);
        const worse = sum(stayIsBetter ? switches[score] : stays[score]);
        const taken =
          contender === ORACLE ? better : (expected[contender]?.(stays[score], switches[score]) ?? Number.NaN);
        return { regret: taken / better - 1, atStake: worse / better - 1 };
      });
      scores.get(contender)?.push({
        regret: mean(directions.map(({ regret }) => regret)),
        atStake: mean(directions.map(({ atStake }) => atStake)),
      });
    }
  }
  return scores;
}

/** The contender that knows which constant choice is the better one. */
export const ORACLE = "oracle";

/** Means of the pages in either half of the loads; loads are halved and resampled whole. */
function halfMeans(
  loads: readonly (readonly number[])[],
  random: Random,
  resampling: boolean,
): readonly [readonly number[], readonly number[]] {
  const indices = halve(
    loads.map((_, i) => i),
    random,
  );
  const pages = loads[0]?.length ?? 0;
  const meansOf = (half: readonly number[]): number[] => {
    const picked = resampling ? half.map(() => half[integer(half.length, random)] ?? 0) : half;
    return Array.from({ length: pages }, (_, page) => mean(picked.map((i) => loads[i]?.[page] ?? Number.NaN)));
  };
  return [meansOf(indices[0]), meansOf(indices[1])];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
