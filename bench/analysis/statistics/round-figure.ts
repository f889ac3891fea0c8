import { medianInterval } from "./bootstrap.ts";
import { quantile } from "./summary.ts";

/** The median over rounds; between the quartiles lies the middle half of them. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export interface Figure extends Spread {
  /** To the reference in the same round, then the median; with a 95 % bootstrap interval of it where there are rounds enough. */
  readonly ratio: Spread & { readonly interval: readonly [number, number] | null };
}

/** What was measured in a round; null where there was nothing to measure. */
export interface RoundValue {
  readonly round: number;
  readonly value: number | null;
}

/** Rounds that have no reference above 0 count in the figure, not in its ratio. Undefined where nothing was measured. */
export function figureOf(
  own: readonly RoundValue[],
  reference: readonly RoundValue[],
  random: () => number,
): Figure | undefined {
  const references = new Map(reference.map(({ round, value }) => [round, value]));
  const values = own.flatMap(({ value }) => value ?? []);
  const ratios = own.flatMap(({ round, value }) => {
    const beside = references.get(round) ?? 0;
    return value === null || beside <= 0 ? [] : [value / beside];
  });
  if (values.length === 0) return undefined;
  const { low, high } = medianInterval(ratios, { random });
  return {
    ...spread(values),
    ratio: { ...spread(ratios), interval: Number.isFinite(high) ? [low, high] : null },
  };
}

export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** What stands in a table for a figure that there is not. */
export const NOTHING: Spread = { median: Number.NaN, low: Number.NaN, high: Number.NaN };
