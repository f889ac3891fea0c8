import { integer, type Random } from "./random.ts";
import { mean, median, quantile, quantileOfSorted } from "./summary.ts";

export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly random: Random;
  /** Two-sided; 0.95 by default. */
  readonly confidence?: number;
  /** 2,000 by default; more where the confidence is above 0.99, or its ends hang on a handful of resamples. */
  readonly resamples?: number;
}

/**
 * The mean of positive values, with a studentised bootstrap interval on the log scale (Efron and Tibshirani 1993, 12.5).
 * Why this one: the coverage in README.md. It needs two values; of fewer it says 0 to Infinity.
 */
export function meanInterval(values: readonly number[], options: BootstrapOptions): Interval {
  return studentised([values], [1], options);
}

/** mean(a) / mean(b) of two independent samples of positive values: the same on the log of the ratio. */
export function ratioOfMeansInterval(a: readonly number[], b: readonly number[], options: BootstrapOptions): Interval {
  return studentised([a, b], [1, -1], options);
}

/**
 * The median, with a percentile bootstrap interval: a median has no standard error worth dividing by (its density is
 * unknown), and for one sample the percentile interval is nearly the exact one between order statistics.
 */
export function medianInterval(
  values: readonly number[],
  { random, resamples = 2_000 }: { readonly random: Random; readonly resamples?: number },
): Interval {
  if (values.length < 2) return { estimate: median(values), low: 0, high: Number.POSITIVE_INFINITY };
  const drawn = new Float64Array(values.length);
  const medians = Array.from({ length: resamples }, () => {
    for (let draw = 0; draw < drawn.length; draw++) drawn[draw] = values[integer(values.length, random)] ?? 0;
    return quantileOfSorted(drawn.sort(), 0.5);
  });
  return percentileInterval(median(values), medians);
}

/** An estimate with the percentiles of its resamples: 95 %. */
export function percentileInterval(estimate: number, resamples: Iterable<number>): Interval {
  const sorted = Float64Array.from(resamples).sort();
  return { estimate, low: quantileOfSorted(sorted, 0.025), high: quantileOfSorted(sorted, 0.975) };
}

/** The sum of signed log means, resampled within each sample; returned as its exponential. */
function studentised(
  samples: readonly (readonly number[])[],
  signs: readonly number[],
  { random, confidence = 0.95, resamples = 2_000 }: BootstrapOptions,
): Interval {
  const arms = samples.map((values, index) => ({ sign: signs[index] ?? 1, ...centred(values) }));
  let estimate = 0;
  let variance = 0;
  for (const arm of arms) {
    estimate += arm.sign * Math.log(arm.mean);
    variance += arm.squares / (arm.mean * arm.deviations.length) ** 2;
  }
  if (arms.some(({ deviations }) => deviations.length < 2))
    return { estimate: Math.exp(estimate), low: 0, high: Number.POSITIVE_INFINITY };
  const pivots = new Float64Array(resamples);
  let kept = 0;
  for (let resample = 0; resample < resamples; resample++) {
    let drawn = 0;
    let drawnVariance = 0;
    for (const { sign, mean: centre, deviations } of arms) {
      const n = deviations.length;
      let sum = 0;
      let squares = 0;
      for (let draw = 0; draw < n; draw++) {
        const deviation = deviations[integer(n, random)] ?? 0;
        sum += deviation;
        squares += deviation * deviation;
      }
      const drawnMean = centre + sum / n;
      drawn += sign * Math.log(drawnMean);
      drawnVariance += Math.max(0, squares - (sum * sum) / n) / (drawnMean * n) ** 2;
    }
    // A resample that drew one value n times has no spread to divide by. Left out: 1 in n^(n-1), so only for tiny n.
    if (drawnVariance > 0) pivots[kept++] = (drawn - estimate) / Math.sqrt(drawnVariance);
  }
  const sorted = pivots.subarray(0, kept).sort();
  if (variance === 0) return { estimate: Math.exp(estimate), low: Math.exp(estimate), high: Math.exp(estimate) };
  const standardError = Math.sqrt(variance);
  const tail = (1 - confidence) / 2;
  return {
    estimate: Math.exp(estimate),
    low: Math.exp(estimate - quantileOfSorted(sorted, 1 - tail) * standardError),
    high: Math.exp(estimate - quantileOfSorted(sorted, tail) * standardError),
  };
}

/** Deviations from the mean: sums of squares of 50,000 ms with a small spread would cancel. */
function centred(values: readonly number[]): { mean: number; deviations: Float64Array; squares: number } {
  const centre = mean(values);
  const deviations = Float64Array.from(values, (value) => value - centre);
  let squares = 0;
  for (const deviation of deviations) squares += deviation * deviation;
  return { mean: centre, deviations, squares };
}

/** The median over rounds; between the quartiles lies the middle half of them. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export interface Figure extends Spread {
  /** To the reference in the same round, then the median; with a 95 % bootstrap interval of it where there are rounds enough. */
  readonly ratio: Spread & { readonly interval: readonly [number, number] | null };
}

/** What was measured in a round; null where there was nothing to measure. */
export interface RoundValue {
  readonly round: number;
  readonly value: number | null;
}

/** Rounds that have no reference above 0 count in the figure, not in its ratio. Undefined where nothing was measured. */
export function figureOf(
  own: readonly RoundValue[],
  reference: readonly RoundValue[],
  random: () => number,
): Figure | undefined {
  const references = new Map(reference.map(({ round, value }) => [round, value]));
  const values = own.flatMap(({ value }) => value ?? []);
  const ratios = own.flatMap(({ round, value }) => {
    const beside = references.get(round) ?? 0;
    return value === null || beside <= 0 ? [] : [value / beside];
  });
  if (values.length === 0) return undefined;
  const { low, high } = medianInterval(ratios, { random });
  return {
    ...spread(values),
    ratio: { ...spread(ratios), interval: Number.isFinite(high) ? [low, high] : null },
  };
}

export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** What stands in a table for a figure that there is not. */
export const NOTHING: Spread = { median: Number.NaN, low: Number.NaN, high: Number.NaN };
