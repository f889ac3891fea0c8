import { LOSS_NODES } from "../decision/loss-nodes.ts";
import type { GainsMethod } from "../decision/policy.ts";

const RTT_MS = [3, 20, 60, 150, 300] as const;
const CONTENT_BYTES = [100_000, 1_000_000, 10_000_000] as const;
/** An unknown stack's gain: nothing is expected, and two thirds of all stacks are within a factor of 1.5. */
const SE = 0.4;

/** The table of a stack that nobody has measured: every gain is 0, and nearly anything is possible. */
export const EMPTY_GAINS: GainsMethod = {
  kind: "gains",
  table: {
    rttMs: RTT_MS,
    lossRatio: LOSS_NODES,
    contentBytes: CONTENT_BYTES,
    next: everywhere(),
    return: everywhere(),
    price: RTT_MS.map(() => 0),
    priceSe: RTT_MS.map(() => SE),
  },
  // As the shipped policies have it: access lines, fixed and cellular (assumed).
  mix: [0.7, 0.1, 0.06, 0.075, 0.05, 0.015],
  mixAbout: "access lines, fixed and cellular (assumed)",
};

function everywhere(): { gain: number[][][]; se: number[][][] } {
  const all = (value: number): number[][][] => CONTENT_BYTES.map(() => LOSS_NODES.map(() => RTT_MS.map(() => value)));
  return { gain: all(0), se: all(SE) };
}
