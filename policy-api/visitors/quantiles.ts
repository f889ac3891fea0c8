import { fitting, integer, list, type Reader } from "../decision/parse.ts";

/**
 * How many pages took how long, for p75 and p99: a count for each bucket of a logarithmic scale. Merging adds the counts, so
 * it is exact, and a store can add to one row. Plain JSON.
 *
 * The buckets are those of DDSketch (Masson, Rim and Lee, "DDSketch: a fast and fully-mergeable quantile sketch with
 * relative-error guarantees", VLDB 2019): a quantile is right to ACCURACY of its value. Turned down: the package
 * @datadog/sketches-js: it writes and reads itself as protobuf alone, and nothing bounds the number of its buckets. What a
 * store needs of it is one logarithm.
 */
export type Sketch = readonly (readonly [bucket: number, pages: number])[];

/** The relative error of a quantile. */
export const ACCURACY = 0.02;

const GAMMA = (1 + ACCURACY) / (1 - ACCURACY);
const LOG_GAMMA = Math.log(GAMMA);

/** What is shorter or longer counts as this, milliseconds: a millisecond and an hour. */
const RANGE_MS = [1, 3_600_000] as const;

/** All buckets there can be: 0 to this. */
export const BUCKET_MAX = Math.ceil(Math.log(RANGE_MS[1]) / LOG_GAMMA);

export const EMPTY_SKETCH: Sketch = [];

/** The bucket of a time: the smallest power of GAMMA that is not below it. */
export function bucketOf(ms: number): number {
  const within = ms > RANGE_MS[0] ? Math.min(RANGE_MS[1], ms) : RANGE_MS[0];
  // Rounding must not put an exact power into the bucket above.
  return Math.max(0, Math.ceil(Math.log(within) / LOG_GAMMA - 1e-9));
}

/** The time that a bucket stands for: from both its ends ACCURACY away. */
export function msOf(bucket: number): number {
  return (2 * GAMMA ** bucket) / (GAMMA + 1);
}

/** Adds a page. Pure. */
export function addTime(sketch: Sketch, ms: number): Sketch {
  return mergeSketches(sketch, [[bucketOf(ms), 1]]);
}

/** Both together. Pure. */
export function mergeSketches(a: Sketch, b: Sketch): Sketch {
  const counts = new Map(a);
  for (const [bucket, pages] of b) counts.set(bucket, (counts.get(bucket) ?? 0) + pages);
  return [...counts].sort(([x], [y]) => x - y);
}

/** The time below which a share of the pages stayed. Undefined without pages. Pure. */
export function quantileOf(sketch: Sketch, share: number): number | undefined {
  const total = sketch.reduce((sum, [, pages]) => sum + pages, 0);
  if (total === 0) return undefined;
  const rank = share * (total - 1);
  let below = 0;
  for (const [bucket, pages] of sketch) {
    below += pages;
    if (below > rank) return msOf(bucket);
  }
  return undefined;
}

const readEntry = list(integer(0, Number.MAX_SAFE_INTEGER), 2, 2) as Reader<unknown> as Reader<Sketch[number]>;

/** Reads a stored sketch. Its buckets increase. */
export const readSketch: Reader<Sketch> = fitting(list(readEntry, 0, BUCKET_MAX + 1), (sketch, fault) => {
  for (const [i, [bucket, pages]] of sketch.entries()) {
    if (bucket > BUCKET_MAX || bucket <= (sketch[i - 1]?.[0] ?? -1))
      fault(`/${i}/0`, `must be larger than the one before it, and at most ${BUCKET_MAX}`);
    if (pages === 0) fault(`/${i}/1`, "must not be 0");
  }
});
