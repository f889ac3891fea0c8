// Values that tests of several rooms share. Nothing that is deployed imports it.
import type { ConnectionSeen, History } from "./facts.ts";
import type { GainTable } from "./gain-table.ts";
import { ANY_ORIGIN, NO_OFFER, type OfferState, type OriginOffers } from "./offers.ts";
import type { GainsMethod, Policy } from "./policy.ts";
import { INITIAL_POLICY } from "./policy.ts";
import type { PathSample } from "./sample.ts";

export const HOUR_MS = 3_600_000;
/** A moment at the start of an hour: 2026-01-01. */
export const NOON_MS = Math.floor(1_767_225_600_000 / HOUR_MS) * HOUR_MS;

export function sample(over: Partial<PathSample> = {}): PathSample {
  return { transport: "tcp", connectionId: "c1", atMs: NOON_MS, closing: false, ...over };
}

/** One connection that has shown much: a million packets over TCP. */
export function seen(over: Partial<ConnectionSeen> = {}): ConnectionSeen {
  return { transport: "tcp", ageMs: 0, packets: 1e6, lost: 0, ...over };
}

/** A client whose one connection has lost such a share of its packets. */
export function clientWith(lossRatio: number, over: Partial<ConnectionSeen> = {}): History {
  const one = seen(over);
  return { state: "known", connections: [{ ...one, lost: lossRatio * one.packets }] };
}

/** The same gains at every RTT and size: without loss, and with 5 %. */
export function flatTable(clean: number, lossy: number, over: Partial<GainTable> = {}): GainTable {
  const gains = { gain: [[[clean], [lossy]]], se: [[[0.01], [0.01]]] };
  return {
    rttMs: [50],
    lossRatio: [0, 0.05],
    contentBytes: [1_000_000],
    next: gains,
    return: gains,
    price: [0],
    priceSe: [0.01],
    ...over,
  };
}

/** HTTP/2 is faster without loss (by a tenth), HTTP/3 with loss (twice as fast). Nine clients in ten have none. */
export const GAINS: GainsMethod = { kind: "gains", table: flatTable(-0.1, Math.log(2)), mix: [0.95, 0.05] };

export function adaptivePolicy(over: Partial<Policy> = {}): Policy {
  return { ...INITIAL_POLICY, mode: "adaptive", method: GAINS, ma: { minS: 10, maxS: 100 }, ...over };
}

/** What a client may hold of one origin: of any, unless it is named. */
export function offersHeld({
  takenAtMs = 0,
  ignoredAtMs = [],
  ...held
}: Partial<OriginOffers & OfferState>): OfferState {
  const one = { origin: ANY_ORIGIN, untilMs: 0, answeredAtMs: 0, offering: false, ...held };
  return { ...NO_OFFER, origins: [one], takenAtMs, ignoredAtMs };
}
