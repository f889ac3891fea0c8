import { defineExperiment } from "../../harness/experiment.ts";
import { requireBrowser } from "../../lab/browser.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag, oneOf, wholeNumber } from "../../model/options.ts";
import { noneLoaded, offersSummary } from "./findings.ts";
import { offersValues } from "./report.ts";
import { OFFER_ROW } from "../../model/offer-row.ts";
import { missingVisits } from "./schedule.ts";
import { placesOf } from "./settings.ts";
import { CLIENTS, LANES, makeVisits } from "./visits.ts";

const QUICK_LANES = 2;

/** What an offer of HTTP/3 changes in a real browser: on the page at hand, the next ones, and when it returns. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each network, congestion control and treatment (20)", [1, 1_000], 20),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    client: oneOf("NAME", `who visits: ${CLIENTS.join(", ")} (chromium)`, CLIENTS, "chromium"),
    quick: flag("one visit of each treatment on one network, with short pauses: whether it works"),
  },
  row: OFFER_ROW,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: ({ visits, seed, quick, client }) => ({
    seed,
    quick,
    ...(client === "k6" && { client }),
    places: placesOf(visits, quick).map(({ network, congestion, treatments }) => ({ network, congestion, treatments })),
  }),
  done: ({ visits, seed, quick }, rows) => {
    const places = placesOf(visits, quick);
    return 1 - missingVisits(places, rows, seed).length / missingVisits(places, [], seed).length;
  },
  lanes: ({ quick }) => (quick ? QUICK_LANES : LANES),
  prepare: async ({ client }) => {
    if (client === "chromium") requireBrowser();
    await buildLab();
    return undefined;
  },
  measure: (run) =>
    makeVisits(placesOf(run.options.visits, run.options.quick), run, run.options.quick ? QUICK_LANES : LANES),
  summarise: ({ options: { visits, seed, quick }, ...recorded }) =>
    offersSummary(recorded, placesOf(visits, quick), seed),
  report: (summary) => ({ values: offersValues(summary) }),
  fault: noneLoaded,
});
