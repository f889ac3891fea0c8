import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../base/user-error.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { sizeOf } from "../../harness/loads/options.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import { requireBrowser } from "../../lab/browser.ts";
import { browserPictures, browserValues } from "./findings.ts";
import { lanesOf, loadPages, shareOf } from "./load-pages.ts";
import { type Recorded, recordConnections } from "./record-connections.ts";
import { BROWSER_ROW } from "./row.ts";
import { placesOf } from "./settings.ts";
import { browserSummary } from "./summary.ts";

/** What is found out once all pages were loaded; with it the report can be made again. */
const CONNECTIONS_FILE = "connections.json";

/** Pages in a real browser over emulated paths; then some of its QUIC connections, as the server's qlog tells of them. */
export const experiment = defineExperiment({
  options: {
    quick: flag("two visits of each, with little loss and short pauses: whether it works"),
    full: flag("as many visits as published, 50, also where the usual run has fewer"),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
  },
  row: BROWSER_ROW,
  question: ({ seed, ...size }) => ({ seed, places: placesOf(sizeOf(size)) }),
  done: ({ seed, ...size }, rows, path) =>
    Math.min(shareOf(placesOf(sizeOf(size)), rows, seed), recordedIn(path) === undefined ? 0.999 : 1),
  lanes: (size) => lanesOf(placesOf(sizeOf(size))),
  prepare: async () => {
    requireBrowser();
    await buildLab();
    return undefined;
  },
  measure: async (run) => {
    const { quick } = run.options;
    const places = placesOf(sizeOf(run.options));
    await loadPages(places, run);
    // On the path with the longest delay, where the flights stand apart.
    const [place] = places.toSorted((one, other) => other.network.delayMs - one.network.delayMs);
    if (run.signal.aborted || place === undefined) return;
    const recorded = await recordConnections(place, quick, run.signal);
    run.folder.write(CONNECTIONS_FILE, `${JSON.stringify(recorded, undefined, 2)}\n`);
  },
  summarise: ({ options: { seed, ...size }, path, ...run }) => {
    const recorded = recordedIn(path);
    if (recorded === undefined) throw new UserError(`${path} has no ${CONNECTIONS_FILE}: the same command goes on.`);
    return browserSummary(run, placesOf(sizeOf(size)), recorded, seed);
  },
  report: (summary) => ({ values: browserValues(summary), pictures: browserPictures(summary) }),
});

/** What an earlier start found out at its end, after its last page; undefined where there is none, or half of one. */
function recordedIn(path: string): Recorded | undefined {
  const file = join(path, CONNECTIONS_FILE);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Recorded;
  } catch {
    return undefined;
  }
}
