import { integer, shuffle, type Random } from "./random.ts";

/** A sample cut into two halves at random. */
export type Halves = readonly [readonly number[], readonly number[]];

export function halve(values: readonly number[], random: Random): Halves {
  const shuffled = shuffle(values, random);
  // Which half gets the odd one is drawn too: else the second would always be the larger.
  const middle = Math.floor(values.length / 2) + (values.length % 2 === 1 && random() < 0.5 ? 1 : 0);
  return [shuffled.slice(0, middle), shuffled.slice(middle)];
}

/** The mean of as many values drawn with replacement. */
export function resampledMean(values: readonly number[], random: Random): number {
  let sum = 0;
  for (let draw = 0; draw < values.length; draw++) sum += values[integer(values.length, random)] ?? 0;
  return sum / values.length;
}
