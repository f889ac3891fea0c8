import { defineExperiment } from "../../harness/experiment.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import { policedReport, policedSummary } from "./findings.ts";
import { LANES, makeVisits } from "./measure.ts";
import { missingVisits, placesOf, POLICED_ROW } from "./settings.ts";

/** Networks that drop packets of UDP alone: how soon the policy takes HTTP/3 back. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each network, congestion control and arm (10)", [1, 1_000], 10),
    seed: wholeNumber("what losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag("one network and a few visits: whether it works"),
  },
  row: POLICED_ROW,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: ({ seed, quick }) => ({ seed, quick, places: placesOf(quick) }),
  done: ({ visits, quick }, rows) => {
    const places = placesOf(quick);
    return 1 - missingVisits(places, visits, rows).length / missingVisits(places, visits, []).length;
  },
  lanes: () => LANES,
  prepare: async () => {
    await buildLab();
    return undefined;
  },
  measure: makeVisits,
  summarise: ({ options: { seed, quick }, ...recorded }) => policedSummary(recorded, placesOf(quick), seed),
  report: policedReport,
});
