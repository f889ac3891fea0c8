import type { Estimate } from "./arms.ts";

/** A numerator and a denominator that are both uncertain, and how many standard errors an interval reaches. */
export interface Quotient {
  readonly numerator: number;
  readonly denominator: number;
  readonly numeratorVariance: number;
  readonly denominatorVariance: number;
  readonly covariance: number;
  readonly reach: number;
}

/**
 * A quotient with Fieller's interval: all q for which numerator - q x denominator is within reach of 0. Undefined where the
 * denominator cannot be told from 0, or is below: then every q would do.
 *
 * Why Fieller's: for the true q, that difference has mean 0, and so its sequence holds at every look. Hence the set of all
 * q holds as well. An interval by the delta method has no such reason, and is too narrow where few clients change. The
 * standard error is the delta method's; it serves where evidence is weighed, not where something is claimed.
 */
export function quotientOf(given: Quotient): Estimate | undefined {
  const { numerator, denominator, numeratorVariance, denominatorVariance, covariance, reach } = given;
  const square = reach * reach;
  const a = denominator * denominator - square * denominatorVariance;
  if (!(a > 0 && denominator > 0)) return undefined;
  const b = numerator * denominator - square * covariance;
  const c = numerator * numerator - square * numeratorVariance;
  const root = Math.sqrt(Math.max(0, b * b - a * c));
  const value = numerator / denominator;
  const variance = numeratorVariance - 2 * value * covariance + value * value * denominatorVariance;
  return {
    value,
    se: Math.sqrt(Math.max(0, variance)) / denominator,
    low: (b - root) / a,
    high: (b + root) / a,
  };
}
