import { CONNECTIONS } from "../../../policy-api/core/connections.ts";
import { applySamples, type ClientState, EMPTY_CLIENT } from "../../../policy-api/core/levels.ts";
import type { PathSample } from "../../../policy-api/core/sample.ts";
import { NOW_MS } from "./inputs.ts";

const APART_MS = 2_500;
/** A connection's samples; then it closes and another takes its place. */
const PER_CONNECTION = 40;
const PACKETS = 700;

/** The sample with this number of a busy address: eight connections at a time over one path. */
export function sampleAt(number: number): PathSample {
  const turn = Math.floor(number / CONNECTIONS);
  const age = turn % PER_CONNECTION;
  const packetsSent = PACKETS * (age + 1);
  return {
    transport: "tcp",
    connectionId: `connection-${number % CONNECTIONS}-${Math.floor(turn / PER_CONNECTION)}`,
    atMs: NOW_MS + number * APART_MS,
    rttMs: 30 + (number % 7),
    minRttMs: 28 + (number % 5),
    packetsSent,
    packetsLost: Math.floor(packetsSent / 100),
    bytesSent: packetsSent * 1_200,
    busyMs: 500 * (age + 1),
    deliveryRateBps: 5_000_000 + 10_000 * (number % 11),
    closing: age === PER_CONNECTION - 1,
  };
}

/** What is held of a client after so many samples. */
export function stateAfter(count: number): ClientState {
  let state = EMPTY_CLIENT;
  for (let number = 0; number < count; number++) {
    const sample = sampleAt(number);
    state = applySamples(state, [sample], sample.atMs).state;
  }
  return state;
}

/** How much of a state's bounded room is used. */
export type StateSize = ReturnType<typeof sizeOf>;

export function sizeOf(state: ClientState) {
  return {
    connections: state.connections.length,
    /** Of its JSON. */
    bytes: JSON.stringify(state).length,
  };
}
