import { SCALE } from "./client-day.ts";
import type { Arms } from "./intervals.ts";
import { type Moments, productOf } from "./moments.ts";
import { type Sums, TIMES } from "./sums.ts";

/** Means of one arm, each with how uncertain it is: clients are drawn, and pages belong to clients. */
export interface Ratios {
  readonly clients: number;
  /** What the means are per: the sum of the denominator. */
  readonly per: number;
  /** Of each term. */
  readonly means: readonly number[];
  /** Of two means; the variance of one with itself. */
  readonly covariance: (a: number, b: number) => number;
}

/**
 * Each term's sum over another term's sum. Their covariances are those of ratios of sums over clusters, by the delta method
 * (Cochran 1977, 6.3; Deng, Knoblich and Lu 2018): with U = term - mean x denominator for each client,
 * n / (n - 1) x sum(U_a U_b) / (sum of the denominator)^2. Undefined below two clients, and where the denominator is 0.
 *
 * @param denominator The term that the others are divided by
 */
export function ratiosOf(moments: Moments, denominator = 0): Ratios | undefined {
  const { clients, sums } = moments;
  const per = sums[denominator] ?? 0n;
  if (clients < 2n || per <= 0n) return undefined;
  const n = Number(clients);
  const perTwice = Number(per) ** 2;
  // per^2 x sum(U_a U_b), in whole numbers: nothing cancels.
  const residuals = (a: number, b: number): bigint =>
    per * per * productOf(moments, a, b) -
    per * (sums[a] ?? 0n) * productOf(moments, denominator, b) -
    per * (sums[b] ?? 0n) * productOf(moments, denominator, a) +
    (sums[a] ?? 0n) * (sums[b] ?? 0n) * productOf(moments, denominator, denominator);
  const correction = n / (n - 1) / perTwice / perTwice;
  return {
    clients: n,
    per: Number(per) / SCALE,
    means: sums.map((sum) => Number(sum) / Number(per)),
    covariance: (a, b) => Number(residuals(a, b)) * correction,
  };
}

/** The ratios of both arms. Undefined if one has none. */
export function ratiosOfBoth(arms: Arms<Sums>, of: keyof Sums, denominator = 0): Arms<Ratios> | undefined {
  const [offered, withheld] = [ratiosOf(arms.offered[of], denominator), ratiosOf(arms.withheld[of], denominator)];
  return offered && withheld && { offered, withheld };
}

export type TimesTerm = keyof typeof TIMES;

export function meanOf({ means }: Ratios, term: TimesTerm): number {
  return means[TIMES[term]] ?? Number.NaN;
}

/** The mean of a term over clients, and its variance. Undefined below two clients. */
export function meanPerClient(moments: Moments, term: number): { mean: number; variance: number } | undefined {
  const n = Number(moments.clients);
  if (n < 2) return undefined;
  const sum = moments.sums[term] ?? 0n;
  const squares = moments.clients * productOf(moments, term, term) - sum * sum;
  return { mean: Number(sum) / n / SCALE, variance: Number(squares) / n / n / (n - 1) / SCALE ** 2 };
}
