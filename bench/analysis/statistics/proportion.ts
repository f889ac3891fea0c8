export interface Proportion {
  readonly count: number;
  readonly n: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/**
 * A share with its score interval (Wilson 1927). Turned down: Wald's, which says 0 to 0 for 0 of n, and Clopper and
 * Pearson's, which covers 97 to 99 % where 95 were asked.
 */
export function proportion(count: number, n: number, confidence = 0.95): Proportion {
  if (n === 0) return { count, n, share: Number.NaN, low: 0, high: 1 };
  const z = normalQuantile((1 + confidence) / 2);
  // Exact at the ends, where rounding would give 1e-17 or 1 + 1e-16.
  const low = count === 0 ? 0 : wilsonBound(count, n, -z);
  const high = count === n ? 1 : wilsonBound(count, n, z);
  return { count, n, share: count / n, low, high };
}

/** The score bound z standard errors above the share, below it for negative z. */
export function wilsonBound(count: number, n: number, z: number): number {
  const share = count / n;
  const centre = share + (z * z) / (2 * n);
  const reach = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  return Math.min(1, Math.max(0, (centre + reach) / (1 + (z * z) / n)));
}

/** The distribution function of the standard normal: West's rational approximation (2005, after Hart), to 1e-14. */
export function normalCdf(z: number): number {
  const x = Math.abs(z);
  if (x > 37) return z > 0 ? 1 : 0;
  const density = Math.exp((-x * x) / 2);
  let tail: number;
  if (x < 7.07106781186547) {
    const numerator = horner(x, NUMERATOR);
    tail = (density * numerator) / horner(x, DENOMINATOR);
  } else {
    const fraction = x + 1 / (x + 2 / (x + 3 / (x + 4 / (x + 0.65))));
    tail = density / (fraction * 2.506628274631);
  }
  return z > 0 ? 1 - tail : tail;
}

const NUMERATOR = [
  3.52624965998911e-2, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
  220.206867912376,
];
const DENOMINATOR = [
  8.83883476483184e-2, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
  793.826512519948, 440.413735824752,
];

/** The inverse of normalCdf, by bisection: it is asked for a handful of levels, so speed does not matter. */
export function normalQuantile(probability: number): number {
  if (probability <= 0) return Number.NEGATIVE_INFINITY;
  if (probability >= 1) return Number.POSITIVE_INFINITY;
  let low = -38;
  let high = 38;
  for (let step = 0; step < 70; step++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function horner(x: number, coefficients: readonly number[]): number {
  let value = 0;
  for (const coefficient of coefficients) value = value * x + coefficient;
  return value;
}
