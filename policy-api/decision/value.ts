import { ceilingLoss } from "./ceiling.ts";
import { type Evidence, evidenceOf } from "./evidence.ts";
import type { History } from "./facts.ts";
import { type GainGrid, gainsAt, gridOf, lossWeights } from "./gain-table.ts";
import { quicAlone } from "./policed.ts";
import type { GainsMethod, Policy } from "./policy.ts";
import { pagesAhead, returnsWithin } from "./visit.ts";

/** An expected gain, ln(HTTP/2's time / HTTP/3's), and its deviation over what is not known. */
export interface Expected {
  readonly gain: number;
  readonly deviation: number;
}

/** What an offer is worth, and why. */
export interface Worth {
  /** What was lost of the client's own packets, 0 to 1. Undefined: too few were counted. */
  readonly lossRatio: number | undefined;
  /** The probability that the network drops QUIC's packets and not TCP's. */
  readonly quicAlone: number;
  /** Of a next page, own loads included. */
  readonly next: Expected;
  /** Of a return's first page. */
  readonly return: Expected;
  /** What the page at hand loses. */
  readonly price: number;
  /** What both gains lose as HTTP/3 carries at most so much: 0 or less. */
  readonly ceiling: number;
  /** What the client's own loads over both protocols add to both gains. */
  readonly ownShift: number;
  /** How many pages and returns an offer changes. */
  readonly pages: number;
  readonly returns: number;
  /** V(offer) - V(withhold) for each page that changes. */
  readonly saving: Expected;
}

export interface Visiting {
  readonly rttMs: number;
  /** The connection's smallest RTT, by which others count. Undefined: by `rttMs`. */
  readonly minRttMs?: number | undefined;
  readonly contentBytes: number;
  /** Of the connection at hand, bytes per second, as far as it is known. */
  readonly deliveryRateBps?: number | undefined;
  /** Whether pages came before in this visit. */
  readonly isLater: boolean;
  /** Whether the page at hand may change to HTTP/3 by this offer: it came over TCP, and nothing was offered before. */
  readonly paysPrice: boolean;
}

/**
 * ln(HTTP/2's time / HTTP/3's) where the network drops packets of QUIC alone. The least that was measured: at 2 % a page
 * takes about 2.7 times as long.
 */
const POLICED_GAIN = -1;

/** A policy of gains as decisions read it. It takes as long as many decisions to make: make it once. */
export interface PreparedGains {
  readonly grid: GainGrid;
  readonly mix: Float64Array;
  readonly ceilingBps: number | undefined;
  readonly ma: Policy["ma"];
  readonly pages: { readonly first: number; readonly later: number };
  /** How many returns an offer of the shortest and of the longest life meets. */
  readonly returns: { readonly min: number; readonly max: number };
}

export function prepareGains(
  { table, mix, ceilingBps }: GainsMethod,
  { visit, ma }: Pick<Policy, "visit" | "ma">,
): PreparedGains {
  return {
    grid: gridOf(table),
    mix: Float64Array.from(mix),
    ceilingBps,
    ma,
    pages: pagesAhead(visit),
    returns: { min: returnsWithin(visit, ma.minS), max: returnsWithin(visit, ma.maxS) },
  };
}

/**
 * The value of an offer less that of withholding it (or taking it back), over what can still change: this page, the next
 * ones of the visit, and returns while the offer lives. With it the life that the offer should have, seconds. Pure.
 */
export function worthOf(
  { grid, mix, ceilingBps, ma, pages: ahead, returns: within }: PreparedGains,
  history: History,
  visiting: Visiting,
): readonly [worth: Worth, maS: number] {
  const { rttMs, minRttMs = rttMs, contentBytes, deliveryRateBps = 0, isLater, paysPrice } = visiting;
  const evidence = evidenceOf(history, minRttMs);
  const alone = quicAlone(evidence);
  const packets = { sent: evidence.tcp.sent + evidence.quic.sent, lost: evidence.tcp.lost + evidence.quic.lost };
  const there = gainsAt(grid, rttMs, contentBytes, lossWeights(grid, mix, packets));
  const line = { reachedBps: evidence.rateBps, leastBps: deliveryRateBps };
  const ceiling = ceilingBps === undefined ? 0 : ceilingLoss(ceilingBps, visiting, line);
  const plain = expected(there.next, there.nextSquare, ceiling, alone);
  const ownShift = shiftOf(plain.gain, ownLoads(evidence));
  const next = { gain: plain.gain + ownShift, deviation: plain.deviation };
  const plainReturn = expected(there.again, there.againSquare, ceiling, alone);
  const again = { gain: plainReturn.gain + ownShift, deviation: plainReturn.deviation };
  // Where a return would lose, an offer is for this visit alone.
  const isForReturns = again.gain > 0;
  const maS = isForReturns ? ma.maxS : ma.minS;
  const returns = isForReturns ? within.max : within.min;
  const pages = isLater ? ahead.later : ahead.first;
  const price = paysPrice ? there.price : 0;
  const changed = pages + returns;
  const gain = changed > 0 ? (pages * next.gain + returns * again.gain - price) / changed : 0;
  const deviation = changed > 0 ? (pages * next.deviation + returns * again.deviation) / changed : 0;
  const saving = { gain, deviation };
  const lossRatio = packets.sent < OWN_LOSS_PACKETS ? undefined : packets.lost / packets.sent;
  return [{ lossRatio, quicAlone: alone, next, return: again, price, ceiling, ownShift, pages, returns, saving }, maS];
}

/** From so many packets on a client's own loss is known well enough to be named. */
const OWN_LOSS_PACKETS = 500;

/** The mean, and its deviation: over losses, the table's errors, and whether the network polices UDP. */
function expected(there: number, square: number, ceiling: number, alone: number): Expected {
  const gain = there + ceiling;
  const mean = (1 - alone) * gain + alone * POLICED_GAIN;
  const fair = square - there * there + gain * gain;
  const variance = (1 - alone) * fair + alone * POLICED_GAIN * POLICED_GAIN - mean * mean;
  return { gain: mean, deviation: Math.sqrt(Math.max(0, variance)) };
}

/** How much a client's own loads say of HTTP/3, and how certainly. */
export interface OwnLoads {
  /** ln(HTTP/3's speed / HTTP/2's), of its connections. */
  readonly gain: number;
  readonly variance: number;
}

/**
 * By how much the speed of a connection differs from its path's, as the deviation of a logarithm. 0.2 was measured for pages alike (bench/results/clients:
 * 0.1 without loss, 0.4 with it); a visitor's pages also differ in size.
 */
const DEVIATION = 0.3;
/** By how much a path's gain differs from the table's, likewise. */
const GAIN_DEVIATION = 0.3;

/** Below this nothing is left that could shift a gain by one part in a hundred. */
const SPEEDS_MIN = 0.01;

/**
 * Compares the speeds of a client's own connections: bytes over the time in which responses were under way. Undefined
 * unless both protocols have carried enough. Pure.
 */
export function ownLoads({ tcp, quic }: Evidence): OwnLoads | undefined {
  if (tcp.speeds < SPEEDS_MIN || quic.speeds < SPEEDS_MIN) return undefined;
  return {
    gain: quic.logSpeed / quic.speeds - tcp.logSpeed / tcp.speeds,
    variance: DEVIATION ** 2 * (1 / tcp.speeds + 1 / quic.speeds),
  };
}

/** What own loads add to an expected gain: their difference from it, by their certainty. */
export function shiftOf(tableGain: number, own: OwnLoads | undefined): number {
  if (own === undefined) return 0;
  const between = GAIN_DEVIATION ** 2;
  return ((own.gain - tableGain) * between) / (between + own.variance);
}
