/**
 * Parts of one. Logarithms are kept as whole numbers of parts, so that sums do not depend on the order of adding, and what
 * was added can be taken out again to the last digit. 1/4096 is 0.02 % of a time.
 */
export const SCALE = 4096;

/** A number as whole parts. */
export function fixed(value: number): number {
  return Math.round(value * SCALE);
}
