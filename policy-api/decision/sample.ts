import { boolean, integer, MAX, number, oneOf, optional, text } from "./parse.ts";

/** What measured a path: TCP under HTTP/1.1 and HTTP/2, or QUIC under HTTP/3. */
export type Transport = "tcp" | "quic";

export const TRANSPORTS: readonly Transport[] = ["tcp", "quic"];

/**
 * One reading of one connection, by the sender of the data.
 *
 * The counters are cumulative over the connection, as TCP_INFO and QUIC stacks give them. They may step back: a packet
 * that was declared lost may turn out to be late (RFC 8985 section 7.3 for TCP, RFC 9002 section 6.1 for QUIC).
 */
export interface PathSample {
  readonly transport: Transport;
  /** Opaque. Each connection has its own. */
  readonly connectionId: string;
  /** When it was read, milliseconds since the epoch. */
  readonly atMs: number;
  /** Smoothed RTT (RFC 6298, RFC 9002 section 5.3), milliseconds. */
  readonly rttMs?: number | undefined;
  /** Smallest RTT seen on this connection, milliseconds. */
  readonly minRttMs?: number | undefined;
  /** Packets (TCP: data segments) sent so far, retransmissions included. */
  readonly packetsSent?: number | undefined;
  /** Packets declared lost so far. */
  readonly packetsLost?: number | undefined;
  /** Bytes sent so far. */
  readonly bytesSent?: number | undefined;
  /** How long at least one response was under way so far, milliseconds. */
  readonly busyMs?: number | undefined;
  /** Delivery rate, bytes per second. */
  readonly deliveryRateBps?: number | undefined;
  /** Whether the connection was ending. */
  readonly closing: boolean;
}

/** Samples in the order of reading, so that counters move as they did on the connection. */
export function inOrder(samples: readonly PathSample[]): readonly PathSample[] {
  return samples.toSorted((a, b) => a.atMs - b.atMs);
}

/**
 * The fields of a path sample, as a TLS edge posts it. A reader of further fields spreads these into its own object.
 */
export const pathSampleFields = {
  transport: oneOf(...TRANSPORTS),
  connectionId: text(64),
  atMs: number(0, Number.MAX_SAFE_INTEGER),
  rttMs: optional(number(0, MAX.rttMs)),
  minRttMs: optional(number(0, MAX.rttMs)),
  packetsSent: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  packetsLost: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  bytesSent: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  busyMs: optional(number(0, Number.MAX_SAFE_INTEGER)),
  deliveryRateBps: optional(number(0, MAX.deliveryRateBps)),
  closing: boolean(),
} as const;
