import { defineCheck } from "../../harness/experiment.ts";
import { wholeNumber } from "../../model/options.ts";
import { costTable, decideCostValues } from "./findings.ts";
import { decideCostSummary } from "./summary.ts";

// A check and no experiment of rows: it runs nothing but this process, for seconds, and the rounds of one start are compared
// with each other alone, as another start has compiled other code.
export const experiment = defineCheck({
  about: "what a decision costs, beside a plain look-up: no network, no root, seconds",
  options: { rounds: wholeNumber("how often each is timed (41)", [1, 9_999], 41) },
  check: ({ options: { rounds }, command }) => Promise.resolve(decideCostSummary(rounds, command)),
  report: (summary) => ({ values: decideCostValues(summary) }),
  lines: ({ costs }) => [costTable(costs)],
  // A slow machine is no fault of the command.
  holds: () => true,
});
