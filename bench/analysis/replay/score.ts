import { type Interval, percentileInterval } from "../statistics/bootstrap.ts";
import { halve, resampled } from "../statistics/halves.ts";
import type { Random } from "../statistics/random.ts";
import { mean, quantile } from "../statistics/summary.ts";

/** The time expected of a session, given means of its pages where it stays and where it switches. */
export type TimeOf = (stay: readonly number[], switched: readonly number[]) => number;

/** What contenders do in one cell, and what that leads to, of any resample of the loads. */
export interface Played {
  readonly cell: string;
  /** Pages of the loads of the two constant choices. */
  readonly stay: readonly (readonly number[])[];
  readonly switch: readonly (readonly number[])[];
  /** By contender. */
  readonly expected: Readonly<Record<string, TimeOf>>;
}

export type Score = ReturnType<typeof scoreAll>[number];

/** The contender that knows which constant choice is the better one. */
export const ORACLE = "oracle";

/** Differences between the two constant choices below this are no choice that could be wrong. */
const TIE = 0.05;

/**
 * Scores contenders on recorded cells: the time expected of each over the better constant choice, less one. Which choice
 * is the better one is told by one half of the loads, what it takes by the other (in both directions), so that noise is
 * not counted as regret; over so many random halvings. Intervals resample the loads of every cell.
 */
export function scoreAll(played: readonly Played[], ours: string, random: Random, resamples = 300) {
  const scored = (draw: Draw): CellScore[] => played.map((cell) => scoreCell(cell, random, draw));
  const splits = Array.from({ length: 20 }, () => scored((loads) => loads));
  const drawn = Array.from({ length: resamples }, () => scored((loads) => resampled(loads, random)));
  const contenders = Object.keys(played[0]?.expected ?? {}).map((contender) => ({
    contender,
    regrets: played.map((_, i) => mean(splits.map((cells) => cells[i]?.regrets[contender] ?? Number.NaN))),
    drawn: drawn.map((cells) => cells.map(({ regrets }) => regrets[contender] ?? Number.NaN)),
  }));
  const own = contenders.find(({ contender }) => contender === ours);
  const worstOf = (regrets: readonly number[]): number => Math.max(...regrets);
  return contenders.map(({ contender, regrets, drawn: resampledRegrets }) => {
    const aboveOurs = (figure: (regrets: readonly number[]) => number): Interval =>
      percentileInterval(
        figure(regrets) - figure(own?.regrets ?? []),
        resampledRegrets.map((one, i) => figure(one) - figure(own?.drawn[i] ?? [])),
      );
    const decided = splits.flat().filter(({ atStake }) => atStake > TIE);
    const worst = worstOf(regrets);
    return {
      contender,
      mean: mean(regrets),
      p95: quantile(regrets, 0.95),
      worst,
      worstCell: played[regrets.indexOf(worst)]?.cell ?? "",
      /** Share of cells, of those that are no tie, in which more is lost than half of what a wrong choice costs. */
      wrongShare: mean(
        decided.map(({ regrets: all, atStake }) => ((all[contender] ?? Number.NaN) > atStake / 2 ? 1 : 0)),
      ),
      /** Of this contender less ours; the interval is of 95 %, over resampled loads. */
      meanAboveOurs: aboveOurs(mean),
      worstAboveOurs: aboveOurs(worstOf),
    };
  });
}

/** Takes the loads of a half as they are, or resamples them. */
type Draw = (loads: readonly (readonly number[])[]) => readonly (readonly number[])[];

interface CellScore {
  /** By contender. */
  readonly regrets: Readonly<Record<string, number>>;
  /** What the worse constant choice costs. */
  readonly atStake: number;
}

function scoreCell({ stay, switch: switched, expected }: Played, random: Random, draw: Draw): CellScore {
  const stays = halfMeans(stay, random, draw);
  const switches = halfMeans(switched, random, draw);
  const directions = (
    [
      [0, 1],
      [1, 0],
    ] as const
  ).map(([chooseOn, scoreOn]) => {
    const times = { stay: sum(stays[scoreOn]), switch: sum(switches[scoreOn]) };
    const stayIsBetter = sum(stays[chooseOn]) <= sum(switches[chooseOn]);
    const [better, worse] = stayIsBetter ? [times.stay, times.switch] : [times.switch, times.stay];
    return { better, worse, pages: [stays[scoreOn], switches[scoreOn]] as const };
  });
  const regretOf = (contender: string, timeOf: TimeOf): number =>
    mean(directions.map(({ better, pages }) => (contender === ORACLE ? better : timeOf(...pages)) / better - 1));
  return {
    regrets: Object.fromEntries(Object.entries(expected).map(([name, timeOf]) => [name, regretOf(name, timeOf)])),
    atStake: mean(directions.map(({ better, worse }) => worse / better - 1)),
  };
}

/** Means of the pages in either half of the loads; loads are halved and resampled whole. */
function halfMeans(loads: readonly (readonly number[])[], random: Random, draw: Draw) {
  const [one, other] = halve(loads, random);
  const pages = [...(loads[0] ?? []).keys()];
  const meansOf = (half: readonly (readonly number[])[]): number[] => {
    const picked = draw(half);
    return pages.map((page) => mean(picked.map((load) => load[page] ?? Number.NaN)));
  };
  return [meansOf(one), meansOf(other)] as const;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
