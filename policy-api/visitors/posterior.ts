/** What is thought of several figures at once: their means, and how uncertain they are together. */
export interface Beliefs {
  readonly means: readonly number[];
  readonly covariance: readonly (readonly number[])[];
}

/** A weighted sum of figures. Those that are not named weigh nothing. */
export type Weights = readonly (readonly [index: number, weight: number])[];

/** A weighted sum of the figures, as it was observed. */
export interface Observation {
  readonly weights: Weights;
  readonly value: number;
  readonly variance: number;
}

/**
 * The figures after observations: the normal posterior (Kalman updates). It is the same whenever one looks, so evidence
 * counts with its variance at this look, and not with the interval that holds at every look. Pure.
 */
export function posterior(prior: Beliefs, observations: readonly Observation[]): Beliefs {
  const size = prior.means.length;
  const means = Float64Array.from(prior.means);
  const covariance = Float64Array.from(prior.covariance.flat());
  const along = new Float64Array(size);
  for (const { weights, value, variance } of observations) {
    along.fill(0);
    for (const [index, weight] of weights)
      for (let i = 0; i < size; i++) along[i] = (along[i] ?? 0) + weight * (covariance[index * size + i] ?? 0);
    let total = variance;
    let surprise = value;
    for (const [index, weight] of weights) {
      total += weight * (along[index] ?? 0);
      surprise -= weight * (means[index] ?? 0);
    }
    // Nothing is left to be learnt.
    if (!(total > 0)) continue;
    for (let i = 0; i < size; i++) {
      const gain = (along[i] ?? 0) / total;
      means[i] = (means[i] ?? 0) + gain * surprise;
      for (let j = 0; j < size; j++)
        covariance[i * size + j] = (covariance[i * size + j] ?? 0) - gain * (along[j] ?? 0);
    }
  }
  return {
    means: [...means],
    covariance: Array.from({ length: size }, (_, i) => [...covariance.subarray(i * size, (i + 1) * size)]),
  };
}

/** The variance of a weighted sum of the figures. */
export function varianceOf({ covariance }: Beliefs, weights: Weights): number {
  let variance = 0;
  for (const [i, a] of weights) for (const [j, b] of weights) variance += a * b * (covariance[i]?.[j] ?? 0);
  return Math.max(0, variance);
}
