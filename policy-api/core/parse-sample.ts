import { boolean, integer, number, oneOf, optional, text } from "./parse.ts";
import { RATE_MAX_BPS, RTT_MAX_MS, TRANSPORTS } from "./sample.ts";

/**
 * The fields of a path sample, as a TLS edge posts it. A reader of further fields spreads these into its own object.
 */
export const pathSampleFields = {
  transport: oneOf(...TRANSPORTS),
  connectionId: text(64),
  atMs: number(0, Number.MAX_SAFE_INTEGER),
  rttMs: optional(number(0, RTT_MAX_MS)),
  minRttMs: optional(number(0, RTT_MAX_MS)),
  packetsSent: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  packetsLost: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  bytesSent: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  deliveryRateBps: optional(number(0, RATE_MAX_BPS)),
  closing: boolean(),
} as const;
