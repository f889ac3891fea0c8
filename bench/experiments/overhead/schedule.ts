import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { median } from "../../analysis/statistics/summary.ts";
import type { OverheadArm } from "../../lab/loopback-arms.ts";
import { type Loop, LOOPS, type Size, SIZES } from "../../model/request-plan.ts";
import type { OverheadRow } from "./row.ts";

export interface Measurement {
  readonly id: string;
  readonly loop: Loop;
  readonly size: Size;
  readonly round: number;
  readonly arm: OverheadArm;
}

/** An open loop asks for so much of what the slowest arm did in the closed one. */
export const OPEN_LOAD_RATIO = 0.6;

/**
 * All measurements of a run: first the closed loops, which say how fast the open ones may be. In each round every arm
 * once, in random order; an order is the round's own, so that a run goes on where another stopped.
 */
export function measurements(arms: readonly OverheadArm[], rounds: number, seed: number): Measurement[] {
  return LOOPS.flatMap((loop) =>
    Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
      shuffle(Object.keys(SIZES) as Size[], seededRandom(seed, "sizes", loop, round)).flatMap((size) =>
        shuffle(arms, seededRandom(seed, "arms", loop, size, round)).map((arm) => ({
          id: `${loop}/${size}/${arm}/${round}`,
          loop,
          size,
          round,
          arm,
        })),
      ),
    ),
  );
}

/**
 * Requests per second of a size's open loop, the same for every arm. Once a row has it, it stays, also where a later
 * command asks for more rounds.
 */
export function openRate(rows: readonly OverheadRow[], size: Size): number {
  const own = rows.filter((row) => row.size === size);
  const given = own.find(({ loop }) => loop === "open")?.rate;
  if (given !== undefined && given !== null) return given;
  const byArm = Map.groupBy(
    own.filter(({ loop }) => loop === "closed"),
    ({ arm }) => arm,
  );
  const slowest = Math.min(...[...byArm.values()].map((list) => median(list.map((row) => row.requestsPerSecond))));
  return Math.max(1, Math.round(OPEN_LOAD_RATIO * slowest));
}
