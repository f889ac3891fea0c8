import { beliefOf } from "./belief.ts";
import { addSample, type ConnectionRecord, readConnections, seenAt } from "./connections.ts";
import { evidenceOf } from "./evidence.ts";
import { type MixChange, type Mix, NO_MIX, readMix } from "./mix.ts";
import { object, type Read } from "./parse.ts";
import { inOrder, type PathSample } from "./sample.ts";

export const readClientState = object({
  /** The newest first. */
  connections: readConnections,
  /** What its network has of it. */
  given: readMix,
});
/** What is kept of a client's paths. Plain JSON, of bounded size. */
export type ClientState = Read<typeof readClientState>;

export const EMPTY_CLIENT: ClientState = { connections: [], given: NO_MIX };

/**
 * The mix that a client's packets are weighed by for its network: an access line of no special kind (assumed; a policy's
 * own mix is for decisions). Over the loss nodes.
 */
export const COMMON_MIX = [0.6, 0.12, 0.1, 0.1, 0.05, 0.03] as const;

/** A client with this many packets counts half for its network. */
const HALF_WEIGHT_PACKETS = 200;

/** Adds samples to a client's state, and says what it gives to its network. Pure. */
export function applySamples(
  state: ClientState,
  samples: readonly PathSample[],
  nowMs: number,
): { readonly state: ClientState; readonly given: MixChange } {
  const connections = inOrder(samples).reduce(addSample, state.connections);
  const after = connections === state.connections ? state.given : givenBy(connections, nowMs);
  return { state: { connections, given: after }, given: { before: state.given, after } };
}

/** At most one client, spread over the nodes by what its packets say; of few packets, little. */
function givenBy(connections: readonly ConnectionRecord[], nowMs: number): Mix {
  const seen = connections.map((record) => seenAt(record, nowMs));
  const history = { state: "known", connections: seen } as const;
  const { weights, packets } = beliefOf(COMMON_MIX, history, evidenceOf(history, undefined));
  const sent = packets.tcp + packets.quic;
  const certainty = sent / (sent + HALF_WEIGHT_PACKETS);
  return { clients: weights.map((weight) => weight * certainty), asOfMs: nowMs };
}
