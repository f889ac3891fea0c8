import { type Interval, percentileInterval } from "./bootstrap.ts";
import { type Random, resampled } from "./random.ts";
import { mean } from "./summary.ts";

/** Two samples at one place of an axis. */
export interface Pair {
  readonly x: number;
  readonly a: readonly number[];
  readonly b: readonly number[];
}

export interface Crossover {
  /** Where the line through mean(a) - mean(b) first changes its sign; undefined where it does not. */
  readonly x: number | undefined;
  /** Between which 95 % of those resamples' crossings lie that have one; undefined where under half of them have. */
  readonly interval: readonly [number, number] | undefined;
  /** The share of resamples that have one. */
  readonly share: number;
}

/**
 * Where along an axis two means are equal: linear between the places, percentile bootstrap within each sample (2,000
 * resamples). A sign that changes more than once is told by its first change; a place without values does not count.
 *
 * @param pairs in ascending order of x
 */
export function crossover(all: readonly Pair[], random: Random, resamples = 2_000): Crossover {
  const pairs = all.filter(({ a, b }) => a.length > 0 && b.length > 0);
  const found = Array.from({ length: resamples }, () => firstZero(pairs, (values) => mean(resampled(values, random))));
  const crossings = found.filter((x) => x !== undefined);
  const share = crossings.length / resamples;
  const x = firstZero(pairs, mean);
  const { low, high } = percentileInterval(x ?? Number.NaN, crossings);
  return { x, interval: share < 0.5 ? undefined : [low, high], share };
}

function firstZero(pairs: readonly Pair[], average: (values: readonly number[]) => number): number | undefined {
  const points = pairs.map(({ x, a, b }) => ({ x, difference: average(a) - average(b) }));
  for (const [index, right] of points.entries()) {
    const left = points[index - 1];
    if (right.difference === 0) return right.x;
    if (left === undefined || left.difference > 0 === right.difference > 0) continue;
    return left.x + ((right.x - left.x) * left.difference) / (left.difference - right.difference);
  }
  return undefined;
}

/** (mean(b) - mean(a)) / steps: what one step between two places adds, with a percentile interval of 95 %. */
export function growth(a: readonly number[], b: readonly number[], steps: number, random: Random): Interval {
  const drawn = Array.from({ length: 2_000 }, () => (mean(resampled(b, random)) - mean(resampled(a, random))) / steps);
  return percentileInterval((mean(b) - mean(a)) / steps, drawn);
}
