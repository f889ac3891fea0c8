import { defineCheck } from "../../harness/experiment.ts";
import { dayOf } from "../../harness/machine-text.ts";
import { machine } from "../../harness/machine.ts";
import { wholeNumber } from "../../model/options.ts";
import { costsOf, costTable, type DecideCostSummary, decideCostValues } from "./findings.ts";
import { heapGrowth, nodeMeter, timeSubjects } from "./measure.ts";
import { measuredPolicy, POLICY_FILE } from "./policy.ts";
import { subjectsFor } from "./subjects.ts";

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
    return Promise.resolve({
      command,
      day: dayOf(Date.now()),
      policy: POLICY_FILE,
      nodes: { tcp: measured.tcp.stayMs.length, quic: measured.quic.stayMs.length },
      rounds,
      heapCalls: HEAP_CALLS,
      machine: machine(),
      costs: costsOf(subjects, timings, (subject) => heapGrowth(subject, HEAP_CALLS, meter)),
    });
  },
  report: (summary) => ({ values: decideCostValues(summary) }),
  lines: ({ costs }) => [costTable(costs)],
  // A slow machine is no fault of the command.
  holds: () => true,
});
