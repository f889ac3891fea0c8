import type { PathEstimate, TransportEstimate } from "./estimate.ts";
import { type Level, LEVELS } from "./estimator.ts";
import type { History, RequestFacts } from "./facts.ts";
import { type Transport, TRANSPORTS } from "./sample.ts";
import type { PathFacts } from "./times.ts";

/** What a loss can rest on, the nearest first. */
export const BASES = [...LEVELS, "prior"] as const;
export type Basis = (typeof BASES)[number];

/**
 * A level is known from this many packets on. Over 100 packets the standard error of a loss of 2.5 % is 1.6 points;
 * over the 700 packets of 1 MB it is 0.6.
 */
export const KNOWN_PACKETS = 100;

/** A path as one transport measured it, and how far off its loss and rate may be, in standard errors. */
export interface TransportPath extends PathFacts {
  readonly transport: Transport;
  readonly lossLow: number;
  readonly lossHigh: number;
  /** Standard error of ln(rate). */
  readonly rateSe: number;
}

/** The path that a decision looks at. */
export interface KnownPath {
  readonly basis: Basis;
  /** As each transport measured it. The transport of this connection is first, if it measured the path. */
  readonly paths: readonly TransportPath[];
  /** Since the path last changed, milliseconds. Absent if it was not seen to change. */
  readonly changedMsAgo?: number | undefined;
}

/**
 * How much evidence of a level may count, in packets, and how far off its rate may be, as standard error of the
 * logarithm. The clients of a network have different last miles, and those of an autonomous system are in different
 * cities. So their packets are many, but say less about this client.
 */
const EVIDENCE = {
  client: { packets: 1e9, rateSe: 0.3 },
  network: { packets: 1_000, rateSe: 0.7 },
  asn: { packets: 200, rateSe: 1 },
} as const satisfies Record<Level, { packets: number; rateSe: number }>;

/** Losses come in bursts: this many packets are as much evidence as one independent packet. As in epochs.ts. */
const PACKETS_PER_DRAW = 2;
/** A decision does not believe figures above these: a minute, 100 Tbit/s. */
const RTT_BELIEVED_MS = 60_000;
const RATE_BELIEVED_BPS = 1.25e13;
/** An unknown rate: 25 Mbit/s, the speed of an access line, give or take a factor of e. */
const RATE_BPS = 3_125_000;
const RATE_SE = 1;
/** The loss where packets are not counted (Cloudflare): 0.1 %, and from 0 to 2 %. */
const UNCOUNTED_LOSS = { ratio: 0.001, low: 0, high: 0.02 } as const;

/**
 * The path that a decision looks at. The RTT is that of this connection, if it has one. The loss comes from the nearest
 * level that is known, the rate from the nearest that has one. Undefined without an RTT or without a known level: then
 * the cold start decides.
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

/** The RTT of this connection. If it has none yet, the smallest that the nearest level remembers. */
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

/** The rate of the first that has one: this client, this connection, its network, its autonomous system. */
function rateOf(transport: Transport, request: RequestFacts, history: History): [rateBps: number, se: number] {
  const client = rate(history.client?.[transport]?.deliveryRateBps);
  if (client !== undefined) return [client, EVIDENCE.client.rateSe];
  const own = transport === request.transport ? rate(request.deliveryRateBps) : undefined;
  if (own !== undefined) return [own, EVIDENCE.client.rateSe];
  for (const level of LEVELS) {
    if (level === "client") continue;
    const known = rate(history[level]?.[transport]?.deliveryRateBps);
    const { rateSe } = EVIDENCE[level];
    // A level of many clients keeps the largest rate of them all. This client's is expected to be one error lower.
    if (known !== undefined) return [known * Math.exp(-rateSe), rateSe];
  }
  return [RATE_BPS, RATE_SE];
}

/** 0 means not known. A rate that no network has is a fault, and must not count as not known: NaN. */
function rate(bps: number | undefined): number | undefined {
  if (bps === undefined || bps === 0) return undefined;
  return bps > 0 && bps <= RATE_BELIEVED_BPS ? bps : Number.NaN;
}

/**
 * The loss ratio and its score interval of one standard error (Wilson 1927), which has a width even if nothing was
 * lost.
 */
function lossOf(read: TransportEstimate, packetsMax: number): { ratio: number; low: number; high: number } {
  if (read.lossRatio === undefined) return UNCOUNTED_LOSS;
  // No counter can show these figures. They must not look like a path with loss.
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

/** Platforms give 0 for what they do not know. NaN, negative numbers and longer RTTs are faults. */
function rtt(ms: number | undefined): number | undefined {
  return ms !== undefined && ms > 0 && ms <= RTT_BELIEVED_MS ? ms : undefined;
}
