// Values that tests of several rooms share. Nothing that is deployed imports it.
import type { Policy } from "./policy.ts";
import { INITIAL_POLICY } from "./policy.ts";
import type { PathSample } from "./sample.ts";
import type { TimesLattice } from "./times.ts";

export const HOUR_MS = 3_600_000;
/** A moment at the start of a bucket: 2026-01-01. */
export const NOON_MS = Math.floor(1_767_225_600_000 / HOUR_MS) * HOUR_MS;

export function sample(over: Partial<PathSample> = {}): PathSample {
  return { transport: "tcp", connectionId: "c1", atMs: NOON_MS, closing: false, ...over };
}

/** HTTP/2 wins without loss, HTTP/3 with loss. Round figures. */
export const LATTICE: TimesLattice = {
  rttMs: [0, 100],
  lossRatio: [0, 0.04],
  deliveryRateBps: [25_000_000],
  contentBytes: [1_000_000],
  stayMs: [100, 400, 400, 1600],
  switchMs: [200, 800, 200, 800],
  coldMs: [100, 400, 100, 400],
};

export function adaptivePolicy(over: Partial<Policy> = {}): Policy {
  return {
    ...INITIAL_POLICY,
    mode: "adaptive",
    method: { kind: "times", tcp: LATTICE },
    ma: { minS: 10, maxS: 100 },
    ...over,
  };
}
