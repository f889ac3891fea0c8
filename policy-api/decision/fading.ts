/**
 * How long it takes until evidence counts half, milliseconds: a day. A visitor who returns tomorrow is on the same line
 * more often than not.
 */
export const HALF_LIFE_MS = 86_400_000;

/** The share of evidence that is left after this time, 0 to 1. */
export function left(elapsedMs: number): number {
  return Math.exp(lnLeft(elapsedMs));
}

/** Its logarithm. */
export function lnLeft(elapsedMs: number): number {
  return (-Math.LN2 / HALF_LIFE_MS) * Math.max(0, elapsedMs);
}
