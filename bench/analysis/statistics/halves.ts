import { integer, shuffle, type Random } from "./random.ts";

/** Cuts a sample into two halves at random. */
export function halve<T>(values: readonly T[], random: Random): readonly [readonly T[], readonly T[]] {
  const shuffled = shuffle(values, random);
  // Which half gets the odd one is drawn too: else the second would always be the larger.
  const middle = Math.floor(values.length / 2) + (values.length % 2 === 1 && random() < 0.5 ? 1 : 0);
  return [shuffled.slice(0, middle), shuffled.slice(middle)];
}

/** As many values, drawn with replacement. */
export function resampled<T>(values: readonly T[], random: Random): T[] {
  return values.map(() => values[integer(values.length, random)] as T);
}
