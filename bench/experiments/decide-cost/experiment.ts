import { defineCheck } from "../../harness/experiment.ts";
import { machine } from "../../harness/machine.ts";
import { dayOf } from "../../harness/machine-text.ts";
import { wholeNumber } from "../../model/options.ts";
import { heapGrowth, timeSubjects } from "./measure.ts";
import { nodeMeter } from "./node-meter.ts";
import { measuredPolicy } from "./policy.ts";
import { costTable, decideCostValues } from "./tables.ts";
import { subjectsFor } from "./subjects.ts";
import { BOUND_NS, costsOf, type DecideCostSummary, growsNowhere, isWithinBound } from "./findings.ts";

const SEED = 1;
const HEAP_CALLS = 1_000_000;

// A check and no experiment of rows: it runs nothing but this process, for seconds, and the rounds of one start are compared
// with each other alone, as another start has compiled other code.
export const experiment = defineCheck({
  about: "what a decision costs, beside a plain look-up: no network, no root, seconds",
  options: { rounds: wholeNumber("how often each is timed (41)", [1, 9_999], 41) },
  check: ({ options: { rounds }, command }): Promise<DecideCostSummary> => {
    const measured = measuredPolicy();
    const meter = nodeMeter();
    const subjects = subjectsFor(measured, SEED);
    const timings = timeSubjects(subjects, rounds, meter);
    const growth = new Map(subjects.map((subject) => [subject.name, heapGrowth(subject, HEAP_CALLS, meter)] as const));
    const costs = costsOf(subjects, timings, growth);
    return Promise.resolve({
      command,
      day: dayOf(Date.now()),
      policy: measured.name,
      nodes: { tcp: measured.tcp.stayMs.length, quic: measured.quic.stayMs.length },
      rounds,
      heapCalls: HEAP_CALLS,
      machine: machine(),
      costs,
      boundNs: BOUND_NS,
      withinBound: isWithinBound(costs),
      nothingGrows: growsNowhere(costs),
    });
  },
  report: (summary) => ({ values: decideCostValues(summary) }),
  lines: (summary) => [
    costTable(summary),
    `decide is ${summary.withinBound ? "within" : "over"} its bound of ${BOUND_NS} ns.`,
  ],
  // A slow machine is no fault of the command.
  holds: () => true,
});
