import { decide } from "../../../policy-api/core/decide.ts";
import { applySample, type PathState } from "../../../policy-api/core/estimator.ts";
import { type Input, inputsOver, NOW_MS } from "./inputs.ts";
import { nearestFigure, type PlainTable } from "./nearest.ts";
import type { MeasuredPolicy } from "./policy.ts";
import { sampleAt, sizeOf, type StateSize, stateAfter } from "./samples.ts";

/** Something that is timed. */
export interface Subject {
  readonly name: "decide" | "plain look-up" | "update after 10,000" | "update after 1,000,000";
  readonly about: string;
  /** Calls of a batch: some milliseconds of CPU time. */
  readonly calls: number;
  /** Calls it so often, and returns what comes of all results: none may be left out. */
  run(calls: number): number;
  readonly state?: StateSize;
}

/** A power of two, so many that no branch predictor knows them by heart. */
const INPUTS = 1_024;

/** What is timed, in the order of the table. Each has a loop of its own, so that none shapes another's code. */
export function subjectsFor(measured: MeasuredPolicy, seed: number): Subject[] {
  const inputs = inputsOver(measured.tcp, INPUTS, seed);
  return [
    deciding(measured, inputs),
    lookUp(measured, inputs),
    update("update after 10,000", stateAfter(10_000), 10_000),
    update("update after 1,000,000", stateAfter(1_000_000), 1_000_000),
  ];
}

function deciding({ policy }: MeasuredPolicy, inputs: readonly Input[]): Subject {
  return {
    name: "decide",
    about: "`decide` by full times, a client known over TCP and QUIC",
    calls: 5_000,
    run: (calls) => {
      let sum = 0;
      for (let i = 0; i < calls; i++) {
        const input = inputs[i % INPUTS];
        if (input === undefined) continue;
        const { request, history, explorationUnit } = input;
        const decision = decide(request, history, policy, NOW_MS, explorationUnit);
        sum += decision.propensity + (decision.saving ?? 0);
      }
      return sum;
    },
  };
}

function lookUp({ tcp: times }: MeasuredPolicy, inputs: readonly Input[]): Subject {
  const table: PlainTable = {
    axes: [
      Float64Array.from(times.rttMs),
      Float64Array.from(times.lossRatio),
      Float64Array.from(times.deliveryRateBps),
      Float64Array.from(times.contentBytes),
    ],
    figures: Float64Array.from(times.stayMs, (stayMs, node) => stayMs / (times.switchMs[node] ?? Number.NaN)),
  };
  // Flat, so that nothing but the look-up is timed.
  const places = Float64Array.from(
    inputs.flatMap(({ request, history, contentBytes }) => {
      const tcp = history.client?.tcp;
      return [request.rttMs ?? 0, tcp?.lossRatio ?? 0, tcp?.deliveryRateBps ?? 0, contentBytes];
    }),
  );
  return {
    name: "plain look-up",
    about: "the nearest node of a table: four binary searches, one read",
    calls: 100_000,
    run: (calls) => {
      let sum = 0;
      for (let i = 0; i < calls; i++) {
        const at = (i % INPUTS) * 4;
        sum += nearestFigure(table, places[at] ?? 0, places[at + 1] ?? 0, places[at + 2] ?? 0, places[at + 3] ?? 0);
      }
      return sum;
    },
  };
}

const SAMPLES = 5_000;

function update(name: Subject["name"], full: PathState, samplesBefore: number): Subject {
  const next = Array.from({ length: SAMPLES }, (_, i) => sampleAt(samplesBefore + i));
  return {
    name,
    about: `\`applySample\` on a state after ${samplesBefore.toLocaleString("en-US")} samples, its epochs, windows and baselines full`,
    calls: SAMPLES,
    run: (calls) => {
      let sum = 0;
      let state = full;
      for (let i = 0; i < calls; i++) {
        const sample = next[i % SAMPLES];
        if (sample === undefined) continue;
        if (i % SAMPLES === 0) state = full;
        const updated = applySample(state, sample);
        state = updated.state;
        sum += updated.onward.packets;
      }
      return sum;
    },
    state: sizeOf(full),
  };
}
