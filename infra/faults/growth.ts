import type { Holding } from "./machine.ts";

/** What the two programs hold at the end of a round. */
export interface Holdings {
  readonly workerd: Holding;
  readonly edge: Holding;
}

/** The end is compared with the reading after this share of the run. In a run of fewer rounds the programs have not settled by then. */
const SETTLED_SHARE = 1 / 6;
const FEWEST_ROUNDS = 30;
/** At the end there may be this many times as much as when it had settled, and a little. */
const GROWTH = 1.25;
const SPARE: Holding = { MB: 16, descriptors: 32 };

/** What grew from when the run had settled to its end, as sentences. */
export function growth(readings: readonly Holdings[]): string[] {
  const [settled, end] = [readings[Math.round(readings.length * SETTLED_SHARE) - 1], readings.at(-1)];
  if (readings.length < FEWEST_ROUNDS || settled === undefined || end === undefined) return [];
  return (["workerd", "edge"] as const).flatMap((program) =>
    (["MB", "descriptors"] as const)
      .map((what) => [what, settled[program][what], end[program][what]] as const)
      .filter(([what, before, after]) => after > before * GROWTH + SPARE[what])
      .map(
        ([what, before, after]) =>
          `${program} held ${before} ${what} after a sixth of the run, and ${after} at its end`,
      ),
  );
}
