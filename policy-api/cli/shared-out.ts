/** What a whole is counted in: tenths of a percent. */
const PARTS = 1_000;

/**
 * The shares of weights, 0 to 1, as tenths of a percent that add up to 1: rounded each by itself, 7.5 and 92.5 % would be 101 %.
 * Those whose rest is largest are rounded up. Pure.
 */
export function sharedOut(weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0)) return weights.map(() => 0);
  // A share that is a whole number of tenths must not lose one to how fractions are kept.
  const exact = weights.map((weight) => Number(((weight / total) * PARTS).toFixed(6)));
  const parts = exact.map(Math.floor);
  const missing = PARTS - parts.reduce((sum, part) => sum + part, 0);
  const byRest = exact.map((share, i) => ({ i, rest: share % 1 })).toSorted((a, b) => b.rest - a.rest);
  for (const { i } of byRest.slice(0, missing)) parts[i] = (parts[i] ?? 0) + 1;
  return parts.map((part) => part / PARTS);
}
