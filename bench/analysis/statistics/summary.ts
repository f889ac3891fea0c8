// Every figure of an empty sample is NaN, and so is the spread of a single value.

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
  return quantileOfSorted(
    values.toSorted((one, other) => one - other),
    probability,
  );
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
