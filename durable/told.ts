import type { PathRow } from "./path-rows.ts";

/** A later end of an offer is written only if it is later by this much, milliseconds. */
const OFFER_END_MS = 300_000;
/** A row that nothing changes is written again after this long, so that it does not expire while its client still comes. */
const REFRESH_MS = 86_400_000;

/** What of a client's row can change an answer, as it was written last. */
export interface Told {
  /** Whether an RTT is known. */
  readonly isMeasured: boolean;
  /** Of all connections. */
  readonly packets: number;
  readonly bytes: number;
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
  bytes: 0,
  offering: false,
  offerUntilMs: 0,
  ignoredAtMs: 0,
  takenAtMs: 0,
  lastAtMs: Number.POSITIVE_INFINITY,
};

export function toldBy({ client, offers, lastAtMs }: PathRow): Told {
  let [packets, bytes] = [0, 0];
  let isMeasured = false;
  for (const { packetsSent, bytesSent, rttMs } of client.connections) {
    isMeasured ||= rttMs !== undefined;
    packets += packetsSent;
    bytes += bytesSent;
  }
  const ignoredAtMs = offers.ignoredAtMs.at(-1) ?? 0;
  return {
    isMeasured,
    packets,
    bytes,
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
    now.bytes !== written.bytes ||
    now.offering !== written.offering ||
    now.ignoredAtMs !== written.ignoredAtMs ||
    now.takenAtMs !== written.takenAtMs ||
    now.offerUntilMs >= written.offerUntilMs + OFFER_END_MS ||
    now.lastAtMs >= written.lastAtMs + REFRESH_MS
  );
}
