import { VISIT_GAP_MS } from "../policy-api/core/visit.ts";
import type { PathRow } from "./path-rows.ts";

/** A later end of an offer is written if it is later by this much, milliseconds, or by half of what is left of the offer. */
const OFFER_END_MS = 300_000;
/** A later answer is written before a look at the row would take the next page for another visit's. */
const ANSWERED_MS = VISIT_GAP_MS / 2;
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
  readonly answeredAtMs: number;
  readonly offering: boolean;
  readonly offerUntilMs: number;
  /** When an offer was last ignored. 0: never. */
  readonly ignoredAtMs: number;
  /** When the client last came over HTTP/3, if it ever ignored an offer: it ends a pause. */
  readonly takenAtMs: number;
  readonly lastAtMs: number;
}

/** Of a client that has no row. */
const NOTHING: Told = {
  isMeasured: false,
  packets: 0,
  lost: 0,
  bytes: 0,
  answeredAtMs: 0,
  offering: false,
  offerUntilMs: 0,
  ignoredAtMs: 0,
  takenAtMs: 0,
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
  const ignoredAtMs = offers.ignoredAtMs.at(-1) ?? 0;
  return {
    isMeasured,
    packets,
    lost,
    bytes,
    answeredAtMs: offers.answeredAtMs,
    offering: offers.offering,
    offerUntilMs: offers.untilMs,
    ignoredAtMs,
    takenAtMs: ignoredAtMs === 0 ? 0 : offers.takenAtMs,
    lastAtMs,
  };
}

/** Whether a client's row is worth a write. @param written Undefined: it has no row. */
export function tells(written: Told = NOTHING, now: Told): boolean {
  return (
    now.isMeasured !== written.isMeasured ||
    now.packets !== written.packets ||
    now.lost !== written.lost ||
    now.bytes !== written.bytes ||
    now.offering !== written.offering ||
    now.ignoredAtMs !== written.ignoredAtMs ||
    now.takenAtMs !== written.takenAtMs ||
    now.answeredAtMs >= written.answeredAtMs + ANSWERED_MS ||
    now.offerUntilMs - written.offerUntilMs >= Math.min(OFFER_END_MS, endLeft(now)) ||
    now.lastAtMs >= written.lastAtMs + REFRESH_MS
  );
}

/** Half of what is left of the offer that a client may hold, at least a second. */
function endLeft({ offerUntilMs, lastAtMs }: Told): number {
  return Math.max(1_000, (offerUntilMs - lastAtMs) / 2);
}
