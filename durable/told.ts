import { NO_OFFER, offersChangeAnswer, type OfferState } from "../policy-api/decision/offers.ts";
import type { PathRow } from "./path-rows.ts";

/** A row that nothing changes is written again after this long, so that it does not expire while its client still comes. */
const REFRESH_MS = 6 * 3_600_000;

/** What of a client's row can change an answer, as it was written last. */
export interface Told {
  /** Whether an RTT is known. */
  readonly isMeasured: boolean;
  /** Of all connections. */
  readonly packets: number;
  readonly lost: number;
  readonly bytes: number;
  readonly offers: OfferState;
  readonly lastAtMs: number;
}

/** Of a client that has no row. */
const NOTHING: Told = {
  isMeasured: false,
  packets: 0,
  lost: 0,
  bytes: 0,
  offers: NO_OFFER,
  lastAtMs: Number.POSITIVE_INFINITY,
};

export function toldBy({ client, offers, lastAtMs }: PathRow): Told {
  let [packets, lost, bytes] = [0, 0, 0];
  let isMeasured = false;
  for (const { packetsSent, packetsLost, bytesSent, rttMs } of client.connections) {
    isMeasured ||= rttMs !== undefined;
    packets += packetsSent;
    lost += packetsLost;
    bytes += bytesSent;
  }
  return { isMeasured, packets, lost, bytes, offers, lastAtMs };
}

/** Whether a client's row is worth a write. @param written Undefined: it has no row. */
export function tells(written: Told = NOTHING, now: Told): boolean {
  return (
    now.isMeasured !== written.isMeasured ||
    now.packets !== written.packets ||
    now.lost !== written.lost ||
    now.bytes !== written.bytes ||
    offersChangeAnswer(written.offers, now.offers, now.lastAtMs) ||
    now.lastAtMs >= written.lastAtMs + REFRESH_MS
  );
}
