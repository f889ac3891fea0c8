import { defineExperiment } from "../../harness/experiment.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import { changedLines, changedReport, changedSummary } from "./findings.ts";
import { isOver, makeRounds } from "./measure.ts";
import { CHANGED_ROW, lanesOf } from "./settings.ts";

/** A server whose congestion control changes under a policy in force, and an autopilot that hears of it from pages alone. */
export const experiment = defineExperiment({
  about:
    "cubic becomes BBR under a policy in force: does the autopilot notice it, by pages' reports alone (40 minutes)",
  options: {
    seed: wholeNumber("what losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag("a few visits: whether it works"),
  },
  row: CHANGED_ROW,
  question: ({ seed, quick }) => ({ seed, quick }),
  // The store of a run goes with it: it cannot go on.
  done: (_options, rows) => (isOver(rows) ? 1 : 0),
  lanes: ({ quick }) => lanesOf(quick),
  prepare: async () => {
    await buildLab();
    return undefined;
  },
  measure: makeRounds,
  summarise: ({ options: { seed }, ...recorded }) => changedSummary(recorded, seed),
  report: changedReport,
  lines: changedLines,
});
