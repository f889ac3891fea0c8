import type { PathEstimate, TransportEstimate } from "./estimate.ts";
import { type History, type Level, LEVELS, type RequestFacts } from "./facts.ts";
import { type Transport, TRANSPORTS } from "./sample.ts";
import type { PathFacts } from "./times.ts";

/** What loss and rate rest on, the nearest first. */
export const BASES = [...LEVELS, "prior"] as const;
export type Basis = (typeof BASES)[number];

/**
 * Packets that make a path known: over 100 packets the standard error of a loss of 2.5 % is 1.6 points, over the 700
 * packets of 1 MB it is 0.6.
 */
export const KNOWN_PACKETS = 100;

/** A path in one transport's coordinates, and how far its loss and rate may be off, in standard errors. */
export interface TransportPath extends PathFacts {
  readonly transport: Transport;
  readonly lossLow: number;
  readonly lossHigh: number;
  /** Standard error of ln(rate). */
  readonly rateSe: number;
}

export interface KnownPath {
  readonly basis: Basis;
  /** The first is that of the connection at hand's own transport, where that was measured. */
  readonly paths: readonly TransportPath[];
  /** Since the path was last seen to change, milliseconds; absent where it was not. */
  readonly changedMsAgo?: number | undefined;
}

/**
 * How much evidence of a level may count, packets, and how far a rate of it may be off, as standard error of its
 * logarithm. A network's clients have different last miles, an ASN's different cities: their packets are many and tell
 * the less of this client.
 */
const EVIDENCE = {
  client: { packets: 1e9, rateSe: 0.3 },
  network: { packets: 1_000, rateSe: 0.7 },
  asn: { packets: 200, rateSe: 1 },
} as const satisfies Record<Level, { packets: number; rateSe: number }>;

/** Losses come in bursts: packets of evidence that are worth one drawn alone. As in epochs.ts. */
const PACKETS_PER_DRAW = 2;
/** Beyond these no network lies: a minute of RTT, 100 Tbit/s. */
const RTT_MAX_MS = 60_000;
const RATE_MAX_BPS = 1.25e13;
/** Where nothing tells the rate: 25 Mbit/s, the speed of an access line, give or take a factor of e. */
const RATE_BPS = 3_125_000;
const RATE_SE = 1;
/** Where packets were not counted (Cloudflare): 0.1 %, give or take what makes it 2 %. */
const UNCOUNTED_LOSS = { ratio: 0.001, low: 0, high: 0.02 } as const;

/**
 * The path that a decision looks at, as each transport measured it: RTT from the connection at hand first; loss from the
 * nearest level that knows the path, rate from the nearest that has one. Undefined without an RTT, and for a client of whom nothing is known on any
 * level: there the cold start speaks. A look-up that came late knows no levels.
 */
export function pathOf(request: RequestFacts, history: History): KnownPath | undefined {
  const basis = LEVELS.find((level) => history[level] !== undefined);
  const estimate = basis === undefined ? undefined : history[basis];
  if (basis === undefined || estimate === undefined) return undefined;
  const rttMs = rttOf(request, history);
  if (rttMs === undefined) return undefined;
  const paths: TransportPath[] = [];
  for (const transport of TRANSPORTS) {
    const read = estimate[transport];
    if (read === undefined) continue;
    const path = transportPath(transport, read, rttMs, request, history, basis);
    if (transport === request.transport) paths.unshift(path);
    else paths.push(path);
  }
  return paths.length === 0 ? undefined : { basis, paths, changedMsAgo: changedMsAgo(estimate) };
}

/** The RTT of the connection at hand; where it has none yet, the smallest that the nearest level remembers. */
export function rttOf(request: RequestFacts, history: History): number | undefined {
  let known = rtt(request.rttMs);
  for (const level of LEVELS) known ??= smallestRtt(history[level]);
  return known;
}

function transportPath(
  transport: Transport,
  read: TransportEstimate,
  rttMs: number,
  request: RequestFacts,
  history: History,
  basis: Level,
): TransportPath {
  const loss = lossOf(read, EVIDENCE[basis].packets);
  const [deliveryRateBps, rateSe] = rateOf(transport, request, history);
  return {
    transport,
    rttMs,
    lossRatio: loss.ratio,
    lossLow: loss.low,
    lossHigh: loss.high,
    deliveryRateBps,
    rateSe,
  };
}

/** The rate of the nearest that knows one: this client, the connection at hand, its network, its ASN. */
function rateOf(transport: Transport, request: RequestFacts, history: History): [rateBps: number, se: number] {
  const client = rate(history.client?.[transport]?.deliveryRateBps);
  if (client !== undefined) return [client, EVIDENCE.client.rateSe];
  const own = transport === request.transport ? rate(request.deliveryRateBps) : undefined;
  if (own !== undefined) return [own, EVIDENCE.client.rateSe];
  for (const level of LEVELS) {
    if (level === "client") continue;
    const known = rate(history[level]?.[transport]?.deliveryRateBps);
    const { rateSe } = EVIDENCE[level];
    // What is kept of many is the largest of them all: this client's is as likely below as above one error less.
    if (known !== undefined) return [known * Math.exp(-rateSe), rateSe];
  }
  return [RATE_BPS, RATE_SE];
}

/** 0 is not known; of what no network has nothing can be told, and it must not pass for not known either. */
function rate(bps: number | undefined): number | undefined {
  if (bps === undefined || bps === 0) return undefined;
  return bps > 0 && bps <= RATE_MAX_BPS ? bps : Number.NaN;
}

/**
 * The loss ratio and its score interval of one standard error (Wilson 1927), which has a width where nothing was lost
 * too.
 */
function lossOf(read: TransportEstimate, packetsMax: number): { ratio: number; low: number; high: number } {
  if (read.lossRatio === undefined) return UNCOUNTED_LOSS;
  // What no counter can have counted tells nothing, and must not look like a path with loss.
  if (!(read.lossRatio >= 0 && read.lossRatio <= 1 && read.packets >= 0 && Number.isFinite(read.packets)))
    return { ratio: Number.NaN, low: Number.NaN, high: Number.NaN };
  const n = Math.min(read.packets, packetsMax) / PACKETS_PER_DRAW;
  const centre = (read.lossRatio * n + 0.5) / (n + 1);
  const half = Math.sqrt(read.lossRatio * (1 - read.lossRatio) * n + 0.25) / (n + 1);
  return { ratio: read.lossRatio, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

function changedMsAgo(estimate: PathEstimate): number | undefined {
  const tcp = estimate.tcp?.changedMsAgo;
  const quic = estimate.quic?.changedMsAgo;
  return tcp === undefined ? quic : quic === undefined ? tcp : Math.min(tcp, quic);
}

function smallestRtt(estimate: PathEstimate | undefined): number | undefined {
  const tcp = rtt(estimate?.tcp?.minRttMs);
  const quic = rtt(estimate?.quic?.minRttMs);
  return tcp === undefined ? quic : quic === undefined ? tcp : Math.min(tcp, quic);
}

/** Platforms say 0 for what they do not know; NaN, negative numbers and what no network has are broken meters. */
function rtt(ms: number | undefined): number | undefined {
  return ms !== undefined && ms > 0 && ms <= RTT_MAX_MS ? ms : undefined;
}
