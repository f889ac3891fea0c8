import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../../base/user-error.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { sizeOf } from "../../harness/loads/options.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import { jsonText } from "../../harness/run-folder.ts";
import { type BrowserVisit, makeVisits, openBrowser } from "../../harness/visits.ts";
import { requireBrowser } from "../../lab/browser.ts";
import { makeRunFolder } from "../../lab/leftovers.ts";
import type { LoadedPage } from "../../lab/navigate.ts";
import { buildLab } from "../../lab/programs.ts";
import { eventsOf, handshakeOf, slowStartOf } from "../../lab/qlog.ts";
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
  type Place,
  placeId,
  PUBLISHED_LOADS,
  type RecordedConnections,
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
export function placesOf(size: LoadOptions["size"]): readonly Place[] {
  const isQuick = size === "quick";
  const most = (usual: number): number => (isQuick ? 2 : size === "full" ? PUBLISHED_LOADS : usual);
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
  readonly place: Place;
  /** From 0. */
  readonly visit: number;
}

/** The visits of each place, in rounds of one for each page and arm, in random order. */
export function visitsOf(places: readonly Place[], seed: number): Visit[] {
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
    Math.min(shareMade(visitsOf(placesOf(sizeOf(size)), seed), rows), recordedIn(path) === undefined ? 0.999 : 1),
  lanes: (size) => sideBySide(placesOf(sizeOf(size))).length,
  prepare: async () => {
    requireBrowser();
    await buildLab();
    return undefined;
  },
  measure: async (run) => {
    const { seed, ...size } = run.options;
    const places = placesOf(sizeOf(size));
    const left = (place: Place): Visit[] => missing(visitsOf([place], seed), run.folder.rows);
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
    // On the path with the longest delay, where the flights stand apart.
    const [place] = places.toSorted((one, other) => other.network.delayMs - one.network.delayMs);
    if (run.signal.aborted || place === undefined) return;
    run.folder.write(CONNECTIONS_FILE, jsonText(await recordConnections(place, size.quick, run.signal)));
  },
  summarise: ({ options: { seed, ...size }, path, ...run }) => {
    const recorded = recordedIn(path);
    if (recorded === undefined) throw new UserError(`${path} has no ${CONNECTIONS_FILE}: the same command goes on.`);
    return browserSummary(run, placesOf(sizeOf(size)), recorded, seed);
  },
  report: browserReport,
});

function sideBySide(places: readonly Place[]): Place[] {
  return places.filter(({ isAlone }) => !isAlone);
}

/** What an earlier start found out at its end, after its last page; undefined where there is none, or half of one. */
function recordedIn(path: string): RecordedConnections | undefined {
  const file = join(path, CONNECTIONS_FILE);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as RecordedConnections;
  } catch {
    return undefined;
  }
}

/** Pages that a crowd loads. */
const PAGES = 60;

/**
 * Records connections of browsers on a place's network, in labs of their own, as writing down costs time: of one browser alone, and of
 * as many at the same time as in the run.
 *
 * @throws UserError where a page was not loaded, or no whole handshake was recorded
 */
async function recordConnections(
  { network: path, congestion }: Place,
  isQuick: boolean,
  signal: AbortSignal,
): Promise<RecordedConnections> {
  const place: Place = { network: path, congestion, pages: [], arms: [], visits: 0, pausesMs: [], isAlone: true };
  const { path: folder, remove } = makeRunFolder();
  let version = "";
  const told = [];
  try {
    for (const browsers of isQuick ? [1, 2] : [1, 3]) {
      const qlogFolder = join(folder, `qlog-${browsers}`);
      mkdirSync(qlogFolder);
      const visits = Array.from({ length: isQuick ? browsers : PAGES }, (_, visit) => {
        return { id: `recorded/${visit}`, place, page: "page", arm: "fixed-h3", visit } as const;
      });
      const queues = Array.from({ length: browsers }, (_, i) => visits.filter(({ visit }) => visit % browsers === i));
      const run = { folder: { rows: [], append: () => undefined }, progress: { show: () => undefined }, signal };
      await makeVisits(visits, [queues], { arms: ["fixed-h3"], qlogFolder }, run, async (first, visiting) => {
        const browser = await openBrowser(first, visiting, { forced: ["fixed-h3"] });
        version = browser.version;
        return (visit) =>
          browser.visit(visit, 1, async (load) => {
            const { outcome, error = "" } = await load("1");
            if (outcome !== "ok") throw new UserError(`A page was not loaded (${error}): the same command goes on.`);
            return [];
          });
      });
      signal.throwIfAborted();
      // The browsers' end has closed the connections, and the edge's its files.
      const qlogs = readdirSync(qlogFolder).filter((name) => name.endsWith(".sqlog"));
      told.push({ browsers, events: qlogs.map((name) => eventsOf(readFileSync(join(qlogFolder, name), "utf8"))) });
    }
  } finally {
    remove();
  }
  // One of them, packet by packet.
  const handshakes = told.flatMap(({ events }) => events.map((one) => handshakeOf(one)));
  const packets = handshakes.find(({ length }) => length > 0);
  if (packets === undefined)
    throw new UserError(
      "No QUIC handshake was recorded: the edge wrote no qlog of a whole one. Try the same command again.",
    );
  const slowStarts = told.map(({ browsers, events }) => ({ browsers, connections: events.map(slowStartOf) }));
  return { browser: version, connections: { place: placeId(place), packets, slowStarts } };
}
