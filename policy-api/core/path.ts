import type { PathEstimate, TransportEstimate } from "./estimate.ts";
import type { History, RequestFacts } from "./facts.ts";
import type { ColdStart } from "./policy.ts";
import { TRANSPORTS } from "./sample.ts";
import type { PathFacts } from "./times.ts";

/** What loss and rate rest on, the nearest first. */
export type Basis = "client" | "network" | "prior";

/**
 * Packets of evidence at which a measured loss ratio and the prior weigh the same. Over 100 packets the standard error
 * of a loss of 2.5 % is 1.6 points, most of the distance between two rows of the published table; over the 700 packets
 * of 1 MB it is 0.6.
 */
export const PRIOR_PACKETS = 100;

/**
 * The path that a decision looks at: RTT from the connection at hand first; loss and rate from memory, and only where
 * there is none the rate of the connection at hand. Undefined without an RTT, and for a client of whom nothing is known: there the cold start speaks.
 */
export function pathOf(
  request: RequestFacts,
  history: History,
  coldStart: ColdStart,
): { readonly path: PathFacts; readonly basis: Basis } | undefined {
  const client = history.client;
  const network = history.network;
  if (history.state !== "late" && client === undefined && network === undefined) return undefined;

  const rttMs = positive(request.rttMs) ?? smallestRtt(client) ?? smallestRtt(network);
  if (rttMs === undefined) return undefined;
  const networkLoss = shrunkLoss(network, coldStart.lossRatio);
  return {
    basis: client !== undefined ? "client" : network !== undefined ? "network" : "prior",
    path: {
      rttMs,
      lossRatio: shrunkLoss(client, networkLoss),
      deliveryRateBps:
        largestRate(client) ?? largestRate(network) ?? positive(request.deliveryRateBps) ?? coldStart.deliveryRateBps,
    },
  };
}

/** The loss ratio of the transport with more evidence, drawn towards the prior as its evidence is thin. */
function shrunkLoss(estimate: PathEstimate | undefined, prior: number): number {
  let best: TransportEstimate | undefined;
  for (const transport of TRANSPORTS) {
    const read = estimate?.[transport];
    if (read?.lossRatio !== undefined && (best === undefined || read.packets > best.packets)) best = read;
  }
  if (best?.lossRatio === undefined) return prior;
  return (best.lossRatio * best.packets + prior * PRIOR_PACKETS) / (best.packets + PRIOR_PACKETS);
}

function smallestRtt(estimate: PathEstimate | undefined): number | undefined {
  return extremum(estimate?.tcp?.minRttMs, estimate?.quic?.minRttMs, Math.min);
}

function largestRate(estimate: PathEstimate | undefined): number | undefined {
  return extremum(estimate?.tcp?.deliveryRateBps, estimate?.quic?.deliveryRateBps, Math.max);
}

function extremum(
  a: number | undefined,
  b: number | undefined,
  better: (a: number, b: number) => number,
): number | undefined {
  const x = positive(a);
  const y = positive(b);
  return x === undefined ? y : y === undefined ? x : better(x, y);
}

/** Platforms say 0 for what they do not know; NaN and negative numbers are broken meters. */
function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 && Number.isFinite(value) ? value : undefined;
}
