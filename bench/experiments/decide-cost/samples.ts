import { applySample, BASELINES, type PathState } from "../../../policy-api/core/estimator.ts";
import type { PathSample } from "../../../policy-api/core/sample.ts";
import { NOW_MS } from "./inputs.ts";

/** Apart so far that six hours of samples, a whole window, are under 10,000 of them. */
const APART_MS = 2_500;
/** A connection's samples; then it closes and another takes its place. */
const PER_CONNECTION = 40;
const PACKETS = 700;
/** Losses in turn: so far from their mean that each second is weighed, and so near that none is taken for a change. */
const [FEW, MANY] = [3, 11];

/** The sample with this number of a busy address: eight connections at a time over one path that does not change. */
export function sampleAt(number: number): PathSample {
  const turn = Math.floor(number / BASELINES);
  const age = turn % PER_CONNECTION;
  const samples = age + 1;
  const packetsSent = PACKETS * samples;
  const packetsLost = Math.floor(samples / 2) * (FEW + MANY) + (samples % 2) * (number % 2 === 0 ? FEW : MANY);
  return {
    transport: "tcp",
    connectionId: `connection-${number % BASELINES}-${Math.floor(turn / PER_CONNECTION)}`,
    atMs: NOW_MS + number * APART_MS,
    rttMs: 30 + (number % 7),
    minRttMs: 28 + (number % 5),
    packetsSent,
    packetsLost,
    bytesSent: packetsSent * 1_200,
    deliveryRateBps: 5_000_000 + 10_000 * (number % 11),
    closing: age === PER_CONNECTION - 1,
  };
}

/** What is held of a client after so many samples. */
export function stateAfter(count: number): PathState {
  let state: PathState = {};
  for (let number = 0; number < count; number++) state = applySample(state, sampleAt(number)).state;
  return state;
}

/** How much of a state's bounded room is used. */
export type StateSize = ReturnType<typeof sizeOf>;

export function sizeOf(state: PathState) {
  const { epochs = [], minRttMs = [], deliveryRateBps = [], baselines = [] } = state.tcp ?? {};
  return {
    epochs: epochs.length,
    buckets: Math.min(minRttMs.length, deliveryRateBps.length),
    baselines: baselines.length,
    /** Of its JSON. */
    bytes: JSON.stringify(state).length,
  };
}
