/**
 * A windowed extremum in time buckets: `[bucket, value]`, oldest first, at most BUCKETS of them.
 *
 * Buckets are taken from the reading's own time, so the order in which readings arrive, and arriving twice, change
 * nothing. (The three-entry filter of Linux's lib/minmax.c is smaller, but depends on the order.)
 */
export type Windowed = readonly (readonly [bucket: number, value: number])[];

/** Six buckets of an hour: the working day of an address. Provisional until replays of measurements say better. */
export const BUCKETS = 6;
export const BUCKET_MS = 3_600_000;

export type Better = (a: number, b: number) => number;

/** Adds a reading. O(BUCKETS); returns the same array when it changes nothing. */
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

/** The extremum over the buckets that are still in the window at `nowMs`, or undefined. */
export function readWindow(window: Windowed, nowMs: number, better: Better): number | undefined {
  const oldest = Math.floor(nowMs / BUCKET_MS) - BUCKETS;
  let best: number | undefined;
  for (const [bucket, value] of window) {
    if (bucket > oldest) best = best === undefined ? value : better(best, value);
  }
  return best;
}
