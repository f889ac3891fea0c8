import { estimateAt, type PathEstimate } from "./estimate.ts";
import { applySamples, type PathState } from "./estimator.ts";
import type { History } from "./facts.ts";
import { PRIOR_PACKETS } from "./path.ts";
import type { PathSample } from "./sample.ts";

/** What a look-up brought: the states held, if any. */
export interface Remembered {
  readonly client?: PathState;
  readonly network?: PathState;
}

/**
 * Puts together what is known of a client at `nowMs`: what was remembered, and samples that are not in it yet (the
 * connection at hand, readings still on their way to the store). Samples that are in it already change nothing.
 *
 * A connection of which a few packets were sent does not make an unknown client a known one.
 *
 * @param remembered `undefined` when the look-up did not arrive in time.
 */
export function historyAt(remembered: Remembered | undefined, fresh: readonly PathSample[], nowMs: number): History {
  const client = estimateAt(applySamples(remembered?.client ?? {}, fresh), nowMs);
  const network = remembered?.network === undefined ? undefined : estimateAt(remembered.network, nowMs);
  if (remembered === undefined) return { state: "late", ...(client === undefined ? {} : { client }) };
  const clientKnown = client !== undefined && (remembered.client !== undefined || packetsOf(client) >= PRIOR_PACKETS);
  if (!clientKnown && network === undefined) return { state: "unknown" };
  return {
    state: "known",
    ...(clientKnown ? { client } : {}),
    ...(network === undefined ? {} : { network }),
  };
}

function packetsOf(estimate: PathEstimate): number {
  return Math.max(estimate.tcp?.packets ?? 0, estimate.quic?.packets ?? 0);
}
