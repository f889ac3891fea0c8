import { estimateAt, type PathEstimate } from "./estimate.ts";
import { applySamples, type Level, LEVELS, type PathState } from "./estimator.ts";
import type { History } from "./facts.ts";
import type { OfferState } from "./offers.ts";
import { KNOWN_PACKETS } from "./path.ts";
import type { PathSample } from "./sample.ts";

/** What a look-up brings: the state of each level that has one, and the offers that the client may hold. */
export interface Remembered extends Readonly<Partial<Record<Level, PathState | undefined>>> {
  readonly offers?: OfferState | undefined;
}

/**
 * What is known of a client at `nowMs`, from what was remembered and from fresh samples (this connection's, and those
 * on their way to the store). Fresh samples that are already in what was remembered change nothing.
 *
 * A level is known once enough packets were sent over it. Where the platform counts no packets (Cloudflare), a
 * remembered RTT makes it known, as nothing more will come. A handshake alone, or an offer, makes nothing known.
 *
 * @param remembered Undefined if the look-up did not arrive in time.
 */
export function historyAt(remembered: Remembered | undefined, fresh: readonly PathSample[], nowMs: number): History {
  const known: { [L in Level]?: PathEstimate } = {};
  for (const level of LEVELS) {
    const state = remembered?.[level] ?? {};
    const held = estimateAt(state, nowMs);
    const estimate = level === "client" ? estimateAt(applySamples(state, fresh), nowMs) : held;
    if (estimate !== undefined && (isKnown(estimate) || isUncounted(held))) known[level] = estimate;
  }
  if (remembered === undefined) return { state: "late", ...known };
  return { state: Object.keys(known).length === 0 ? "unknown" : "known", ...known };
}

function isKnown(estimate: PathEstimate): boolean {
  return packetsOf(estimate) >= KNOWN_PACKETS;
}

function isUncounted(estimate: PathEstimate | undefined): boolean {
  return estimate !== undefined && packetsOf(estimate) === 0;
}

function packetsOf(estimate: PathEstimate): number {
  return Math.max(estimate.tcp?.packets ?? 0, estimate.quic?.packets ?? 0);
}
