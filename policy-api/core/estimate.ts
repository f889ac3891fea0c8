import type { PathState, TransportState } from "./estimator.ts";
import { packetsLeft } from "./loss.ts";
import { type Transport, TRANSPORTS } from "./sample.ts";
import { readWindow } from "./windowed.ts";

/** What samples of one transport add up to at one moment. */
export interface TransportEstimate {
  /** Smallest RTT in the window, milliseconds. */
  readonly minRttMs?: number | undefined;
  /** Lost over sent, 0 to 1. Older packets count less, by a half-life. Absent without packets. */
  readonly lossRatio?: number | undefined;
  /** The evidence behind `lossRatio`: packets sent, decayed. */
  readonly packets: number;
  /** Largest delivery rate in the window, bytes per second. */
  readonly deliveryRateBps?: number | undefined;
  /** Since the last sample, milliseconds. */
  readonly ageMs: number;
  /** Since the path last changed, milliseconds. Absent if it was not seen to change. */
  readonly changedMsAgo?: number | undefined;
}

/** A path estimate, for each transport that measured the path: loss and rate mean something else to each. */
export type PathEstimate = { readonly [T in Transport]?: TransportEstimate | undefined };

/** Reads a state at `nowMs`. Undefined if nothing is left of it. Pure. */
export function estimateAt(state: PathState, nowMs: number): PathEstimate | undefined {
  const estimate: { [T in Transport]?: TransportEstimate } = {};
  for (const transport of TRANSPORTS) {
    const held = state[transport];
    const read = held === undefined ? undefined : transportEstimateAt(held, nowMs);
    if (read !== undefined) estimate[transport] = read;
  }
  return estimate.tcp === undefined && estimate.quic === undefined ? undefined : estimate;
}

function transportEstimateAt(state: TransportState, nowMs: number): TransportEstimate | undefined {
  const minRttMs = readWindow(state.minRttMs, nowMs, Math.min);
  const deliveryRateBps = readWindow(state.deliveryRateBps, nowMs, Math.max);
  const packets = packetsLeft(state.loss, nowMs);
  // Less than one packet of evidence is no measurement.
  const hasLoss = packets >= 1;
  if (minRttMs === undefined && deliveryRateBps === undefined && !hasLoss) return undefined;
  return {
    packets: hasLoss ? packets : 0,
    ageMs: Math.max(0, nowMs - state.lastAtMs),
    ...(state.changedAtMs === 0 ? {} : { changedMsAgo: Math.max(0, nowMs - state.changedAtMs) }),
    ...(minRttMs === undefined ? {} : { minRttMs }),
    ...(deliveryRateBps === undefined ? {} : { deliveryRateBps }),
    ...(hasLoss ? { lossRatio: state.loss.lost / state.loss.packets } : {}),
  };
}
