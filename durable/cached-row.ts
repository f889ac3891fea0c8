import { offersChangeAnswer } from "../policy-api/decision/offers.ts";
import type { ClientChange } from "../policy-api/visitors/sums-change.ts";
import type { PathRow } from "./path-row.ts";

/** A row that nothing changes is written again after this long, so that it does not expire while its client still comes. */
const REFRESH_MS = 6 * 3_600_000;

/** A row in memory. */
export interface CachedRow {
  row: PathRow;
  /** What a client's row adds to sums of outcomes, and they do not have yet. It is written only together with them. */
  waiting: readonly ClientChange[];
  /** What the table has. */
  written: PathRow;
}

/**
 * Whether a client's row is worth a write: Cloudflare bills each. It is if it adds to sums, or if what changed can change an answer.
 */
export function needsWrite({ row, waiting, written }: CachedRow): boolean {
  return waiting.length > 0 || changesAnswer(written, row) || row.lastAtMs >= written.lastAtMs + REFRESH_MS;
}

function changesAnswer(written: PathRow, row: PathRow): boolean {
  const before = figuresOf(written);
  return (
    figuresOf(row).some((figure, i) => figure !== before[i]) ||
    offersChangeAnswer(written.offers, row.offers, row.lastAtMs)
  );
}

/** Of all connections: how many have an RTT at all (another RTT changes nothing), and what they counted. */
function figuresOf({ client }: PathRow): readonly number[] {
  let [isMeasured, packets, lost, bytes] = [0, 0, 0, 0];
  for (const { packetsSent, packetsLost, bytesSent, rttMs } of client.connections) {
    if (rttMs !== undefined) isMeasured = 1;
    packets += packetsSent;
    lost += packetsLost;
    bytes += bytesSent;
  }
  return [isMeasured, packets, lost, bytes];
}
