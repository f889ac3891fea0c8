import { normalQuantile } from "../statistics/normal.ts";
import { seededRandom, xoshiro128 } from "../statistics/random.ts";

/** Equally likely values: a draw is a look-up, and a run of 10,000 clients takes milliseconds. */
const BITS = 14;
const VALUES = 2 ** BITS;

function tableOf(quantile: (probability: number) => number): Float64Array {
  return Float64Array.from({ length: VALUES }, (_, i) => quantile((i + 0.5) / VALUES));
}

/** Scaled to a variance of 1, which the middles of so many parts just miss. */
function normals(): Float64Array {
  const table = tableOf(normalQuantile);
  const deviation = Math.sqrt(table.reduce((sum, value) => sum + value * value, 0) / VALUES);
  return table.map((value) => value / deviation);
}

const NORMALS = normals();
const LOGISTICS = tableOf((probability) => Math.log(probability / (1 - probability)));

/** Pages of a client: lognormal with median 3, rounded down, 1 to 50. */
const PAGES = tableOf((probability) =>
  Math.min(50, Math.max(1, Math.floor(3 * Math.exp(normalQuantile(probability))))),
);

/** A stream of draws that belongs to a seed and a name. */
export interface Draws {
  readonly uniform: () => number;
  readonly normal: () => number;
  readonly logistic: () => number;
  readonly pages: () => number;
}

export function drawsOf(seed: number, ...name: readonly (string | number)[]): Draws {
  const random = seededRandom(seed, ...name);
  const word = (): number => Math.floor(random() * 2 ** 32);
  const next = xoshiro128([word(), word(), word(), word()]);
  const from = (table: Float64Array) => (): number => table[next() >>> (32 - BITS)] as number;
  return {
    uniform: () => next() / 2 ** 32,
    normal: from(NORMALS),
    logistic: from(LOGISTICS),
    pages: from(PAGES),
  };
}
