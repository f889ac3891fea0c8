/** What is said of one sample. Every figure of an empty sample is NaN, and so is the spread of a single value. */
export interface Summary {
  readonly n: number;
  readonly mean: number;
  readonly median: number;
  readonly sd: number;
  /** sd / mean. */
  readonly cv: number;
  readonly p10: number;
  readonly p90: number;
  readonly min: number;
  readonly max: number;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = ascending(values);
  const centre = mean(values);
  const spread = sd(values);
  return {
    n: values.length,
    mean: centre,
    median: quantileOfSorted(sorted, 0.5),
    sd: spread,
    cv: spread / centre,
    p10: quantileOfSorted(sorted, 0.1),
    p90: quantileOfSorted(sorted, 0.9),
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  };
}

export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The standard deviation with n - 1. */
export function sd(values: readonly number[]): number {
  if (values.length < 2) return Number.NaN;
  // Two passes: load times of 50,000 ms with a small spread would cancel in the sum of squares.
  const centre = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - centre) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}

/** The quantile of type 7 in Hyndman and Fan (1996): linear between order statistics, as R and NumPy do unasked. */
export function quantile(values: readonly number[], probability: number): number {
  return quantileOfSorted(ascending(values), probability);
}

/** The same, of values that are in ascending order already. */
export function quantileOfSorted(sorted: ArrayLike<number>, probability: number): number {
  if (sorted.length === 0) return Number.NaN;
  const position = (sorted.length - 1) * Math.min(1, Math.max(0, probability));
  const below = Math.floor(position);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? 0;
  // Not low + 0 * (high - low), which is NaN where high is infinite.
  return position === below ? low : low + (position - below) * (high - low);
}

function ascending(values: readonly number[]): number[] {
  return values.toSorted((one, other) => one - other);
}
