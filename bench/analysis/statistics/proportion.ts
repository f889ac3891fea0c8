import { normalQuantile } from "./normal.ts";

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
