import type { Evidence } from "./evidence.ts";

/** How much a client's own loads say of HTTP/3, and how certainly. */
export interface OwnLoads {
  /** ln(HTTP/3's speed / HTTP/2's), of its connections. */
  readonly gain: number;
  readonly variance: number;
}

/**
 * By how much the speeds of two connections on one path differ, as the deviation of a logarithm: their pages differ in
 * size, and their losses in place.
 */
const DEVIATION = 0.5;
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
export function shiftOf(expected: number, own: OwnLoads | undefined): number {
  if (own === undefined) return 0;
  const between = GAIN_DEVIATION ** 2;
  return ((own.gain - expected) * between) / (between + own.variance);
}
