import { setTimeout as pause } from "node:timers/promises";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import { type BrowserVisit, leave, makeVisits, openBrowser, Turns, type Visiting } from "../../harness/visits.ts";
import { requireBrowser } from "../../lab/browser.ts";
import type { LoadedPage } from "../../lab/navigate.ts";
import { buildLab } from "../../lab/programs.ts";
import { OFFER_PARAMETER } from "../../model/browser-pages.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import { blankRow } from "../../model/row-schema.ts";
import { placesOf, QUICK_MS } from "./places.ts";
import {
  noneLoaded,
  OFFER_ROW,
  type OfferPlace,
  type OfferRow,
  offersReport,
  offersSummary,
  pagesBefore,
  PAGES,
  type Treatment,
} from "./report.ts";

/** Pauses up to this are kept by keeping the turn: waiting for another one would make them longer. */
const SHORT_PAUSE_MS = 1_000;

/** A browser that knows nothing of the site yet, its pages, and its return. */
export interface Visit extends BrowserVisit {
  readonly place: OfferPlace;
  readonly treatment: Treatment;
  /** From 0. */
  readonly visit: number;
}

/** In rounds of one for each place and treatment, each round in random order. */
export function visitsOf(places: readonly OfferPlace[], seed: number): Visit[] {
  const most = Math.max(...places.map(({ visits }) => visits));
  return Array.from({ length: most }, (_, visit) => {
    const round = places
      .filter(({ visits }) => visit < visits)
      .flatMap((place) =>
        place.treatments.map((one) => {
          const id = `${place.network.name}/${place.congestion}/${one.name}/${visit}`;
          return { id, lastId: `${id}/${PAGES}`, place, treatment: one, visit, arm: "bare", page: "page" } as const;
        }),
      );
    return shuffle(round, seededRandom(seed, "offers", visit));
  }).flat();
}

export function rowOf(visit: Visit, page: number, { files = [], ...seen }: LoadedPage): OfferRow {
  return blankRow(OFFER_ROW, {
    ...seen,
    id: `${visit.id}/${page}`,
    network: visit.place.network.name,
    congestion: visit.place.congestion,
    treatment: visit.treatment.name,
    visit: visit.visit,
    page,
    files: files.map((protocol) => protocol.replace("h", "")).join(""),
  });
}

/** A visit rests for most of its time: so many go on at a time, each on a path of its own. One page loads at a time. */
const LANES = 12;
const QUICK_LANES = 2;
const lanesOf = (isQuick: boolean): number => (isQuick ? QUICK_LANES : LANES);

/** What an offer of HTTP/3 changes in a real browser: on the page at hand, the next ones, and when it returns. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each network, congestion control and treatment (20)", [1, 1_000], 20),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag("one visit of each treatment on one network, with short pauses: whether it works"),
    returns: flag("returns of three pages, some of which take the offer back"),
  },
  row: OFFER_ROW,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: ({ seed, ...options }) => ({
    seed,
    quick: options.quick,
    places: placesOf(options).map((place) => ({ ...place, visits: undefined })),
  }),
  folderName: ({ returns }) => (returns ? "offers-returns" : undefined),
  done: (options, rows) => shareMade(visitsOf(placesOf(options), options.seed), rows),
  lanes: ({ quick }) => lanesOf(quick),
  prepare: async () => {
    requireBrowser();
    await buildLab();
    return undefined;
  },
  measure: async (run) => {
    const { seed, quick } = run.options;
    const all = visitsOf(placesOf(run.options), seed);
    // Where loss makes pages last they would keep the cores busy while others measure: those visits come last.
    const queues = [false, true].map((isLong) =>
      missing(
        all.filter(({ place }) => lasts(place) === isLong),
        run.folder.rows,
      ),
    );
    const phases = queues.map((queue) => Array.from({ length: lanesOf(quick) }, () => queue));
    const turns = new Turns();
    await makeVisits(all, phases, { arms: ["bare"] }, run, async (first, visiting) => {
      const browser = await openBrowser(first, visiting);
      return (visit) =>
        browser.visit(
          visit,
          seed,
          (load) => pagesOf(visit, load, visiting, turns, quick ? QUICK_MS : undefined),
          (call) => turns.take(call),
        );
    });
  },
  summarise: ({ options, ...recorded }) => offersSummary(recorded, placesOf(options), options.seed),
  report: offersReport,
  fault: noneLoaded,
});

/** Where loss makes a page last for seconds the cores rest, and others like it need not wait for it. */
function lasts({ network: { lossRatio }, congestion }: OfferPlace): boolean {
  return lossRatio > 0 && congestion === "cubic";
}

/** A visit and its return. The server is an edge without a worker; the origin answers as the URL asks. */
async function pagesOf(
  visit: Visit,
  load: (query: string) => Promise<LoadedPage>,
  { lane, signal }: Visiting,
  turns: Turns,
  awayMs?: number,
): Promise<OfferRow[]> {
  const { answers, pauseMs } = visit.treatment;
  const rows: OfferRow[] = [];
  const add = async (page: number): Promise<void> => {
    const query = `${OFFER_PARAMETER}=${answers[page - 1] ?? "none"}&page=${page}`;
    rows.push(rowOf(visit, page, await load(query)));
  };
  const inTurn = (call: () => Promise<void>): Promise<void> => (lasts(visit.place) ? call() : turns.take(call));
  const isShort = pauseMs <= SHORT_PAUSE_MS;
  const stay = async (from: number, to: number): Promise<void> => {
    const pages = async (): Promise<void> => {
      for (let page = from; page <= to; page++) {
        if (page > from) await pause(pauseMs, undefined, { signal });
        await (isShort ? add(page) : inTurn(() => add(page)));
      }
    };
    await (isShort ? inTurn(pages) : pages());
  };
  const before = pagesBefore(visit.place);
  await stay(1, before);
  await leave({ lane, signal }, awayMs);
  await stay(before + 1, PAGES);
  return rows;
}
