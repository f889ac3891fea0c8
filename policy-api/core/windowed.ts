/**
 * A windowed extremum in time buckets: `[bucket, value]`, oldest first, at most BUCKETS of them.
 *
 * The bucket comes from the time of the reading itself. So the order of arrival changes nothing, and neither does a
 * reading that arrives twice. (The three-entry filter of Linux's lib/minmax.c is smaller, but depends on the order.)
 */
export type Windowed = readonly (readonly [bucket: number, value: number])[];

/** Six buckets of an hour: the working day of an address. Provisional until replays of measurements show better. */
export const BUCKETS = 6;
export const BUCKET_MS = 3_600_000;

export type Better = (a: number, b: number) => number;

/** Adds a reading. Returns the same array if that changes nothing. O(BUCKETS). */
export function addToWindow(window: Windowed, atMs: number, value: number, better: Better): Windowed {
  const bucket = Math.floor(atMs / BUCKET_MS);
  const newest = Math.max(bucket, window.at(-1)?.[0] ?? bucket);
  if (bucket <= newest - BUCKETS) return window;
  const held = window.find(([b]) => b === bucket);
  if (held !== undefined && better(held[1], value) === held[1]) return window;
  return [...window.filter(([b]) => b !== bucket && b > newest - BUCKETS), [bucket, value] as const].sort(
    (a, b) => a[0] - b[0],
  );
}

/** The extremum of the buckets that are still in the window at `nowMs`. Undefined without any. */
export function readWindow(window: Windowed, nowMs: number, better: Better): number | undefined {
  const oldest = Math.floor(nowMs / BUCKET_MS) - BUCKETS;
  let best: number | undefined;
  for (const [bucket, value] of window) {
    if (bucket > oldest) best = best === undefined ? value : better(best, value);
  }
  return best;
}
