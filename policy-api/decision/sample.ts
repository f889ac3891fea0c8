import { boolean, integer, MAX, number, oneOf, optional, type ReadObject, text } from "./parse.ts";

export const TRANSPORTS = ["tcp", "quic"] as const;
/** What measured a path: TCP under HTTP/1.1 and HTTP/2, or QUIC under HTTP/3. */
export type Transport = (typeof TRANSPORTS)[number];

const count = optional(integer(0, Number.MAX_SAFE_INTEGER));

/** The fields of a path sample, as a TLS edge posts it. A reader of further fields spreads these into its own object. */
export const pathSampleFields = {
  transport: oneOf(...TRANSPORTS),
  /** Opaque. Each connection has its own. */
  connectionId: text(64),
  /** When it was read, milliseconds since the epoch. */
  atMs: number(0, Number.MAX_SAFE_INTEGER),
  /** Smoothed RTT (RFC 6298, RFC 9002 section 5.3), milliseconds. */
  rttMs: optional(number(0, MAX.rttMs)),
  /** Smallest RTT seen on this connection, milliseconds. */
  minRttMs: optional(number(0, MAX.rttMs)),
  /** Packets (TCP: data segments) sent so far, retransmissions included. */
  packetsSent: count,
  /** Packets declared lost so far. */
  packetsLost: count,
  /** Bytes sent so far. */
  bytesSent: count,
  /** How long at least one response was under way so far, until the client had it, milliseconds. */
  busyMs: optional(number(0, Number.MAX_SAFE_INTEGER)),
  /** Delivery rate, bytes per second. */
  deliveryRateBps: optional(number(0, MAX.deliveryRateBps)),
  /** Whether the connection was ending. */
  closing: boolean(),
} as const;

/**
 * One reading of one connection, by the sender of the data.
 *
 * The counters are cumulative over the connection, as TCP_INFO and QUIC stacks give them. They may step back: a packet
 * that was declared lost may turn out to be late (RFC 8985 section 7.3 for TCP, RFC 9002 section 6.1 for QUIC).
 */
export type PathSample = ReadObject<typeof pathSampleFields>;

/** Samples in the order of reading, so that counters move as they did on the connection. */
export function inOrder(samples: readonly PathSample[]): readonly PathSample[] {
  return samples.toSorted((a, b) => a.atMs - b.atMs);
}
