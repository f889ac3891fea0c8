import { defineExperiment } from "../../harness/experiment.ts";
import { requireBrowser } from "../../lab/browser.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag, oneOf, wholeNumber } from "../../model/options.ts";
import { reporterReport, reporterSummary } from "./findings.ts";
import { lanesOf, makeVisits } from "./measure.ts";
import { missingVisits, placesOf, QUESTIONS, REPORTER_ROW } from "./settings.ts";

/** Pages that report: whether what they say is so, and what reporting costs them. */
export const experiment = defineExperiment({
  about: "pages that report in Chromium: is what they say true, and what does reporting cost them (50 minutes)",
  options: {
    seed: wholeNumber("what losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag("two networks and one visit of each kind: whether it works"),
    only: oneOf("QUESTION", "one question alone: truth, or price (both)", QUESTIONS, undefined),
  },
  row: REPORTER_ROW,
  question: ({ seed, ...wanted }) => ({ seed, ...wanted, places: placesOf(wanted) }),
  done: (wanted, rows) => {
    const places = placesOf(wanted);
    return 1 - missingVisits(places, rows).length / missingVisits(places, []).length;
  },
  lanes: (wanted) => lanesOf(placesOf(wanted)),
  prepare: async () => {
    requireBrowser();
    await buildLab();
    return undefined;
  },
  measure: makeVisits,
  summarise: ({ options, ...recorded }) => reporterSummary(recorded, placesOf(options)),
  report: reporterReport,
});
