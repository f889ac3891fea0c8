import type { LastDecided } from "./assignment.ts";
import { addSample, type ConnectionRecord, readConnections, seenAt } from "./connections.ts";
import type { History } from "./facts.ts";
import type { OfferState } from "./offers.ts";
import { object, type Read } from "./parse.ts";
import type { PathSample } from "./sample.ts";

export const readClientState = object({
  /** The newest first. */
  connections: readConnections,
});
/** What is kept of a client's paths. Plain JSON, of bounded size. */
export type ClientState = Read<typeof readClientState>;

/** What a look-up brings: what is kept of the client, and the offers that it may hold. */
export interface Remembered {
  readonly client?: ClientState | undefined;
  readonly offers?: OfferState | undefined;
  /** The last page of this client that a drawn arm decided about. */
  readonly decided?: LastDecided | undefined;
}

/**
 * What is known of a client at `nowMs`, from what was remembered and from fresh samples (this connection's, and those
 * on their way to the store). Fresh samples that are already in what was remembered change nothing.
 *
 * @param remembered Undefined if the look-up did not arrive in time.
 */
export function historyAt(remembered: Remembered | undefined, fresh: readonly PathSample[], nowMs: number): History {
  const before: readonly ConnectionRecord[] = remembered?.client?.connections ?? [];
  const connections = fresh.reduce(addSample, before).map((record) => seenAt(record, nowMs));
  if (remembered === undefined) return { state: "late", connections };
  return { state: remembered.client === undefined ? "unknown" : "known", connections };
}
