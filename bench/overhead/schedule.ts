import { seededRandom, shuffle } from "../stats/random.ts";
import { median } from "../stats/summary.ts";
import type { OverheadArm } from "./arms.ts";
import { type Loop, LOOPS, type OverheadRow, type Size, SIZES } from "./row.ts";

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

/**
 * Connections of a loop, each a client. The closed loop's are few and busy; the open loop's take turns, so that each
 * opens some pages as visitors do. Of large responses fewer, as each is asked for twice before the seconds that count.
 */
export const CLIENTS: Readonly<Record<Loop, Readonly<Record<Size, number>>>> = {
  closed: { small: 16, large: 16 },
  open: { small: 200, large: 50 },
};

/** Before the seconds that count: every connection is made and used twice, which takes about half of it. */
export const WARM_SECONDS = 1.5;

/**
 * Loopback addresses (RFC 1122, 3.2.1.3), each in a /24 of its own, as visitors' mostly are; for k6's --local-ips.
 *
 * @param run so that an arm meets nobody whom it knows: the next run has other addresses
 */
export function clientAddresses(run: number, clients: number): string[] {
  return Array.from({ length: clients }, (_, client) => `127.${1 + (run % 254)}.${client}.1`);
}
