import { boolean, integer, MAX, number, oneOf, optional, text } from "./parse.ts";
import { TRANSPORTS } from "./sample.ts";

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
