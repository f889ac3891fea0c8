import { setTimeout as pause } from "node:timers/promises";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { sizeOf } from "../../harness/loads/options.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import { type BrowserVisit, makeVisits, openBrowser } from "../../harness/visits.ts";
import { browserVersion } from "../../lab/browser.ts";
import type { LoadedPage } from "../../lab/navigate.ts";
import { buildLab } from "../../lab/programs.ts";
import { type Arm, ARM_SETUPS } from "../../model/arm.ts";
import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import type { LoadOptions } from "../../model/load-experiment.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import { blankRow } from "../../model/row-schema.ts";
import {
  BROWSER_ROW,
  browserReport,
  type BrowserRow,
  browserSummary,
  lastOf,
  type BrowserPlace,
  placeId,
  PUBLISHED_LOADS,
} from "./report.ts";

const FIXED = ["fixed-h2", "fixed-h3", "always-offer"] as const satisfies readonly Arm[];
const ALL = [...FIXED, "adaptive"] as const satisfies readonly Arm[];
/** Where HTTP/2 is faster, and a DNS record has brought the browser to HTTP/3. */
const FILES = ["files-h2"] as const satisfies readonly Arm[];

/** One more navigation, as soon as the connections are at rest. */
const AGAIN: readonly number[] = [500];
/**
 * The first visit is measured when its connection has rested for 5 s (infra/edge), and decided on with the second
 * navigation's answer, which is for the third. After a pause as long as visitors make TCP with cubic begins its window anew.
 */
const AGAIN_MEASURED: readonly number[] = [6_500, 5_000];

function network(name: string, rateMbps: number, delayMs: number, lossRatio = 0): Network {
  return { name, rateMbps, delayMs, lossRatio, queueBytes: QUEUE_BYTES };
}

/**
 * `wired` and `unlimited`: the published fast line (browser-page: 900 and 350 Mbit/s, a CDN's edge nearby), as a path that this
 * machine keeps and as fast as it is. `distant`, `lossy`: where the published measurement did not look. A quick run has no
 * navigation after the edge has told of the first, and a tenth of the loss.
 */
export function placesOf(size: LoadOptions["size"]): readonly BrowserPlace[] {
  const isQuick = size === "quick";
  const most = (usual: number): number => (isQuick ? 1 : size === "full" ? PUBLISHED_LOADS : usual);
  const pages = isQuick ? (["page"] as const) : (["page", "document", "images"] as const);
  const fast = { congestion: "cubic", pages, visits: most(PUBLISHED_LOADS), pausesMs: AGAIN, isAlone: true } as const;
  // A visit over HTTP/2 with loss and cubic takes half a minute.
  const pausesMs = isQuick ? AGAIN : AGAIN_MEASURED;
  const far = { pages: ["page"], arms: ALL, visits: most(16), pausesMs, isAlone: false } as const;
  const lossy = network("lossy", 20, 15, isQuick ? 0.002 : 0.02);
  return [
    { ...fast, network: network("wired", 200, 1), arms: [...FIXED, ...FILES] },
    // Without always-offer, which is fixed-h3 after its first visit.
    ...(isQuick
      ? []
      : [
          {
            ...fast,
            network: network("unlimited", 10_000, 0),
            arms: [...FIXED.slice(0, 2), ...FILES],
            visits: most(20),
          },
        ]),
    { ...far, network: network("distant", 50, 75), congestion: "cubic" },
    { ...far, network: lossy, congestion: "cubic" },
    { ...far, network: lossy, congestion: "bbr", arms: [...ALL, ...FILES] },
  ];
}

/** One browser that knows nothing of the site yet, and all its navigations. */
export interface Visit extends BrowserVisit {
  readonly place: BrowserPlace;
  /** From 0. */
  readonly visit: number;
}

/** The visits of each place, in rounds of one for each page and arm, in random order. */
export function visitsOf(places: readonly BrowserPlace[], seed: number): Visit[] {
  return places.flatMap((place) =>
    Array.from({ length: place.visits }, (_, visit) => {
      const round = place.pages.flatMap((page) =>
        place.arms.map((arm) => {
          const id = `${placeId(place)}/${page}/${arm}/${visit}`;
          return { id, lastId: `${id}/${lastOf(place)}`, place, page, arm, visit };
        }),
      );
      return shuffle(round, seededRandom(seed, "visits", placeId(place), visit));
    }).flat(),
  );
}

export function rowOf(visit: Visit, navigation: number, { files, ...seen }: LoadedPage): BrowserRow {
  const { id, place, page, arm } = visit;
  const over = (protocol: string) => files?.filter((one) => one === protocol).length ?? null;
  return blankRow(BROWSER_ROW, {
    ...seen,
    id: `${id}/${navigation}`,
    place: placeId(place),
    congestion: place.congestion,
    page,
    arm,
    visit: visit.visit,
    navigation,
    resourcesH2: over("h2"),
    resourcesH3: over("h3"),
  });
}

/** Pages in a real browser over emulated paths. */
export const experiment = defineExperiment({
  options: {
    quick: flag("one visit of each, with little loss and short pauses: whether it works"),
    full: flag("as many visits as published, 50, also where the usual run has fewer"),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
  },
  row: BROWSER_ROW,
  question: ({ seed, ...size }) => ({ seed, places: placesOf(sizeOf(size)) }),
  done: ({ seed, ...size }, rows) => shareMade(visitsOf(placesOf(sizeOf(size)), seed), rows),
  lanes: (size) => sideBySide(placesOf(sizeOf(size))).length,
  prepare: async () => {
    const chromium = browserVersion();
    await buildLab();
    return { chromium };
  },
  measure: async (run) => {
    const { seed, ...size } = run.options;
    const places = placesOf(sizeOf(size));
    const left = (place: BrowserPlace): Visit[] => missing(visitsOf([place], seed), run.folder.rows);
    // Places that keep the machine busy one after another, then the others at the same time.
    const phases = [...places.filter(({ isAlone }) => isAlone).map((place) => [place]), sideBySide(places)];
    const lab = { arms: [...new Set(places.flatMap(({ arms }) => arms))] };
    await makeVisits(
      visitsOf(places, seed),
      phases.map((of) => of.map(left)),
      lab,
      run,
      async (first, visiting) => {
        const { arms } = first.place;
        const forced = arms.filter((arm) => ARM_SETUPS[arm].firstProtocol === "h3");
        const files = arms.find((arm) => ARM_SETUPS[arm].movesFiles === true);
        const browser = await openBrowser(first, visiting, { forced, files });
        return (visit) =>
          browser.visit(visit, seed, async (load) => {
            const rows: BrowserRow[] = [];
            for (const [index, pauseMs] of [0, ...visit.place.pausesMs].entries()) {
              await pause(pauseMs);
              rows.push(rowOf(visit, index + 1, await load(String(index + 1))));
            }
            return rows;
          });
      },
    );
  },
  summarise: ({ options: { seed, ...size }, ...run }) => browserSummary(run, placesOf(sizeOf(size)), seed),
  report: browserReport,
});

function sideBySide(places: readonly BrowserPlace[]): BrowserPlace[] {
  return places.filter(({ isAlone }) => !isAlone);
}
