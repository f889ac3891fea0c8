import { decide } from "../../../policy-api/core/decide.ts";
import { applySamples } from "../../../policy-api/core/levels.ts";
import type { GainTable } from "../../../policy-api/core/gain-table.ts";
import { type Input, inputsOver, NOW_MS } from "./inputs.ts";
import type { MeasuredPolicy } from "./policy.ts";
import { sampleAt, sizeOf, type StateSize, stateAfter } from "./samples.ts";

/** Something that is timed. */
export interface Subject {
  readonly name: string;
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
  const inputs = inputsOver(measured.table, INPUTS, seed);
  return [deciding(measured, inputs), lookUp(measured.table, inputs), updating(10_000)];
}

function deciding({ policy }: MeasuredPolicy, inputs: readonly Input[]): Subject {
  return {
    name: "decide",
    about: "`decide` by a gain table, eight connections and three levels remembered",
    calls: 5_000,
    run: (calls) => {
      let sum = 0;
      for (let i = 0; i < calls; i++) {
        const input = inputs[i % INPUTS];
        if (input === undefined) continue;
        const { request, history, explorationUnit } = input;
        const decision = decide(request, history, policy, NOW_MS, explorationUnit);
        sum += decision.propensity + (decision.saving?.gain ?? 0);
      }
      return sum;
    },
  };
}

/** The least that a decision could be: a table of figures, of which the nearest place's is taken as it is. */
function lookUp(table: GainTable, inputs: readonly Input[]): Subject {
  const [rtts, losses, contents] = [table.rttMs, table.lossRatio, table.contentBytes].map((axis) =>
    Float64Array.from(axis),
  ) as [Float64Array, Float64Array, Float64Array];
  const figures = Float64Array.from(table.next.gain.flat(2));
  // Flat, so that nothing but the look-up is timed.
  const places = Float64Array.from(
    inputs.flatMap(({ request, history, contentBytes }) => {
      const [newest] = history.connections;
      return [request.rttMs, newest === undefined ? 0 : newest.lost / newest.packets, contentBytes];
    }),
  );
  const nearest = (axis: Float64Array, place: number): number => nearestIndex(axis, places[place] ?? 0);
  return {
    name: "plain look-up",
    about: "the nearest place of a table: three binary searches, one read",
    calls: 100_000,
    run: (calls) => {
      let sum = 0;
      for (let i = 0; i < calls; i++) {
        const at = (i % INPUTS) * 3;
        const node =
          (nearest(contents, at + 2) * losses.length + nearest(losses, at + 1)) * rtts.length + nearest(rtts, at);
        sum += figures[node] ?? Number.NaN;
      }
      return sum;
    },
  };
}

/** The index of the nearest of increasing values; of two that are as near, the smaller. */
export function nearestIndex(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - (values[low - 1] ?? 0) <= (values[low] ?? 0) - value ? low - 1 : low;
}

const SAMPLES = 5_000;

function updating(samplesBefore: number): Subject {
  const before = samplesBefore.toLocaleString("en-US");
  const full = stateAfter(samplesBefore);
  const next = Array.from({ length: SAMPLES }, (_, i) => sampleAt(samplesBefore + i));
  return {
    name: `update after ${before}`,
    about: `\`applySamples\` on a state after ${before} samples, all its connections in use`,
    calls: SAMPLES,
    run: (calls) => {
      let sum = 0;
      let state = full;
      for (let i = 0; i < calls; i++) {
        const sample = next[i % SAMPLES];
        if (sample === undefined) continue;
        if (i % SAMPLES === 0) state = full;
        const updated = applySamples(state, [sample], sample.atMs);
        state = updated.state;
        sum += updated.given.after.asOfMs;
      }
      return sum;
    },
    state: sizeOf(full),
  };
}
