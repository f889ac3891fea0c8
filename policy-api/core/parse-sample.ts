import { boolean, integer, number, oneOf, optional, text } from "./parse.ts";
import { TRANSPORTS } from "./sample.ts";

/** An hour: longer than any path; a reading beyond it is a broken clock. */
const RTT_MAX_MS = 3_600_000;
/** 100 Tbit/s in bytes per second. */
const RATE_MAX_BPS = 1.25e13;

/** The fields of a path sample as an edge posts them; what sends more than these spreads them into its own object. */
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
