import { median } from "../../analysis/statistics/summary.ts";
import { dayOf } from "../../harness/machine-text.ts";
import { machine } from "../../harness/machine.ts";
import { heapGrowth, nodeMeter, timeSubjects, type Timings } from "./measure.ts";
import { measuredPolicy, POLICY_FILE } from "./policy.ts";
import { type Subject, subjectsFor } from "./subjects.ts";

const SEED = 1;
const HEAP_CALLS = 1_000_000;

export type DecideCostSummary = ReturnType<typeof decideCostSummary>;
export type SubjectCost = DecideCostSummary["costs"][number];

/** Times every subject so often, and looks at what it leaves on the heap. @throws UserError where there is no measured policy */
export function decideCostSummary(rounds: number, command: string) {
  const measured = measuredPolicy();
  const meter = nodeMeter();
  const subjects = subjectsFor(measured, SEED);
  const timings = timeSubjects(subjects, rounds, meter);
  return {
    command,
    day: dayOf(Date.now()),
    policy: POLICY_FILE,
    gains: 2 * measured.table.next.gain.flat(2).length,
    rounds,
    heapCalls: HEAP_CALLS,
    machine: machine(),
    costs: costsOf(subjects, timings, (subject) => heapGrowth(subject, HEAP_CALLS, meter)),
  };
}

/** @param growthOf bytes that a call of a subject leaves on the heap */
export function costsOf(subjects: readonly Subject[], timings: Timings, growthOf: (subject: Subject) => number) {
  const reference = timings.get("plain look-up") ?? [];
  return subjects.map((subject) => {
    const ns = timings.get(subject.name) ?? [];
    return {
      subject: subject.name,
      about: subject.about,
      nsPerCall: rangeOf(ns),
      /** To the plain look-up of the same round. */
      ratio: rangeOf(ns.map((one, round) => one / (reference[round] ?? Number.NaN))),
      heapBytesPerCall: growthOf(subject),
      state: subject.state ?? null,
    };
  });
}

function rangeOf(values: readonly number[]) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}
