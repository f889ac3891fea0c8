import { addSample, seenAt } from "./connections.ts";
import type { History } from "./facts.ts";
import type { ClientState } from "./levels.ts";
import { type LevelState, mixAt, type UpperLevel, UPPER_LEVELS } from "./mix.ts";
import type { OfferState } from "./offers.ts";
import type { LastDecided } from "./assignment.ts";
import type { PathSample } from "./sample.ts";

/** What a look-up brings: the state of each level that has one, and the offers that the client may hold. */
export interface Remembered extends Readonly<Partial<Record<UpperLevel, LevelState | undefined>>> {
  readonly client?: ClientState | undefined;
  readonly offers?: OfferState | undefined;
  /** The last page of this client that a drawn arm decided about. */
  readonly decided?: LastDecided | undefined;
}

/**
 * What is known of a client at `nowMs`, from what was remembered and from fresh samples (this connection's, and those
 * on their way to the store). Fresh samples that are already in what was remembered change nothing.
 *
 * A client is not its own neighbour: what its network has of it is left out. (Of what the levels above have, it is one of
 * many.)
 *
 * @param remembered Undefined if the look-up did not arrive in time.
 */
export function historyAt(remembered: Remembered | undefined, fresh: readonly PathSample[], nowMs: number): History {
  const records = fresh.reduce(addSample, remembered?.client?.connections ?? []);
  const connections = records.map((record) => seenAt(record, nowMs));
  const levels: { [L in UpperLevel]?: readonly number[] } = {};
  const own = remembered?.client?.given;
  for (const level of UPPER_LEVELS) {
    const state = remembered?.[level];
    if (state === undefined) continue;
    const clients = mixAt(state.mix, nowMs);
    const ours = level === "network" && own !== undefined ? mixAt(own, nowMs) : undefined;
    levels[level] = ours === undefined ? clients : clients.map((n, node) => Math.max(0, n - (ours[node] ?? 0)));
  }
  if (remembered === undefined) return { state: "late", connections };
  const nothing = remembered.client === undefined && Object.keys(levels).length === 0;
  return { state: nothing ? "unknown" : "known", connections, ...levels };
}
