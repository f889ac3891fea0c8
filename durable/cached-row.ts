import { offersChangeAnswer } from "../policy-api/decision/offers.ts";
import { type ClientChange, type OutcomeKey, withoutKeys } from "../policy-api/visitors/sums-change.ts";
import { isClientKey, type PathRow } from "./path-row.ts";

/** A row is written if its last write is at least this old, milliseconds. Until then, changes wait in memory. */
export const WRITE_INTERVAL_MS = 10_000;
/**
 * The same for a client's own row, which seldom changes twice within ten seconds. What waits needs an alarm, and an alarm is billed as a
 * row twice: when it is set, and when it sets the next one.
 */
const CLIENT_WRITE_INTERVAL_MS = 1_000;
/** A row that nothing changes is written again after this long, so that it does not expire while its client still comes. */
const REFRESH_MS = 6 * 3_600_000;

/** A row in memory. */
export interface CachedRow {
  row: PathRow;
  /** What a client's row adds to sums of outcomes, and they do not have yet. It is written only together with them. */
  waiting: readonly ClientChange[];
  writtenAtMs: number;
  /** What the table has. */
  written: PathRow;
}

/** What of a row may be written before the sums are: the rest is as they have it. */
export function withoutWaiting({ row, waiting, written }: CachedRow): PathRow {
  const [first] = waiting;
  return first === undefined ? row : { ...row, assigned: first.before, countedPages: written.countedPages };
}

/** When a row that has changed is due to be written. Sums that it changes may be due sooner, or later. */
export function dueAtMs(key: string, { waiting, writtenAtMs }: CachedRow): number {
  return writtenAtMs + (isClientKey(key) && waiting.length === 0 ? CLIENT_WRITE_INTERVAL_MS : WRITE_INTERVAL_MS);
}

/**
 * Whether a client's row is worth a write: Cloudflare bills each. It is if it adds to sums, or if what changed can change an answer.
 */
export function needsWrite({ row, waiting, written }: Pick<CachedRow, "row" | "waiting" | "written">): boolean {
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

/** A row whose client is not in sums that are gone. */
export function withoutOutcomes(row: PathRow, isGone: ((key: OutcomeKey) => boolean) | undefined): PathRow {
  const { assigned } = row;
  return assigned === undefined || isGone === undefined ? row : { ...row, assigned: withoutKeys(assigned, isGone) };
}

/** The same in memory, also of what waits. */
export function forgetOutcomes(cached: CachedRow, isGone: (key: OutcomeKey) => boolean): void {
  cached.row = withoutOutcomes(cached.row, isGone);
  cached.waiting = cached.waiting.map(({ before, after, times }) => ({
    before: before && withoutKeys(before, isGone),
    after: withoutKeys(after, isGone),
    times,
  }));
}
