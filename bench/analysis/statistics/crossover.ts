import type { Interval } from "./bootstrap.ts";
import { resampledMean } from "./halves.ts";
import type { Random } from "./random.ts";
import { mean, quantile } from "./summary.ts";

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
  const found = Array.from({ length: resamples }, () =>
    firstZero(pairs.map(({ x, a, b }) => ({ x, difference: resampledMean(a, random) - resampledMean(b, random) }))),
  ).filter((x) => x !== undefined);
  const share = found.length / resamples;
  return {
    x: firstZero(pairs.map(({ x, a, b }) => ({ x, difference: mean(a) - mean(b) }))),
    interval: share < 0.5 ? undefined : [quantile(found, 0.025), quantile(found, 0.975)],
    share,
  };
}

function firstZero(points: readonly { readonly x: number; readonly difference: number }[]): number | undefined {
  for (const [index, right] of points.entries()) {
    const left = points[index - 1];
    if (right.difference === 0) return right.x;
    if (left === undefined || left.difference > 0 === right.difference > 0) continue;
    return left.x + ((right.x - left.x) * left.difference) / (left.difference - right.difference);
  }
  return undefined;
}

/** (mean(b) - mean(a)) / steps: what one step between two places adds, with a percentile interval of 95 %. */
export function growth(
  a: readonly number[],
  b: readonly number[],
  steps: number,
  random: Random,
  resamples = 2_000,
): Interval {
  const drawn = Array.from({ length: resamples }, () => (resampledMean(b, random) - resampledMean(a, random)) / steps);
  return { estimate: (mean(b) - mean(a)) / steps, low: quantile(drawn, 0.025), high: quantile(drawn, 0.975) };
}
