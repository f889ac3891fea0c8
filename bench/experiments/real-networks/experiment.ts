import { join, resolve } from "node:path";
import { publishedPolicy, publishedZeroLine } from "../../analysis/population/contenders.ts";
import { integer, seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { unlessItFails } from "../../harness/in-lab.ts";
import { profileFrom } from "../../harness/loads/batch.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import {
  type BrowserVisit,
  type LoadAgain,
  loadPages,
  makeVisits,
  openBrowser,
  pausesOf,
  shareOverH3,
  Turns,
  versionOf,
  type Visiting,
  waitBefore,
} from "../../harness/visits.ts";
import { startCrossTraffic } from "../../lab/cross-traffic.ts";
import type { LoadedPage } from "../../lab/navigate.ts";
import { buildLab } from "../../lab/programs.ts";
import type { Network } from "../../model/cell.ts";
import { LOAD_ROW } from "../../model/load-row.ts";
import { flag, oneOf, wholeNumber, words } from "../../model/options.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { blankRow } from "../../model/row-schema.ts";
import { readTraces } from "../../model/trace.ts";
import { type Chosen, networksOf, type RealNetwork } from "./networks.ts";
import { ARMS, networksReport, networksSummary, PAGES, REAL_ROW, type RealRow } from "./report.ts";

/** Long enough for the edge to try the connection that an offer brings. */
const QUICK_MS = 3_000;
const LANES = 8;
/** A download beside each visit keeps the cores busy all the time. */
const SHARED_LANES = 2;
/** A page keeps others from theirs for no longer: a slow one would until their connections have ended. */
const TURN_MS = 3_000;

interface Visit extends BrowserVisit {
  readonly arm: RealRow["arm"];
  /** From 0. */
  readonly visit: number;
}

interface Options {
  readonly visits: number;
  readonly congestion: "cubic" | "bbr";
  readonly seed: number;
  readonly traces: string | undefined;
  readonly shared: boolean;
  readonly quick: boolean;
}

const chosenBy = ({ shared, quick }: Pick<Options, "shared" | "quick">): Chosen =>
  shared ? "shared" : quick ? "quick" : "own";

const tracesOf = ({ traces, quick }: Options) => (traces === undefined || quick ? [] : readTraces(resolve(traces)));

const visitsBy = (options: Options): Visit[] => visitsOf(networksOf(tracesOf(options), chosenBy(options)), options);

/** In rounds of one of each network and arm, each in an order of its own. */
export function visitsOf(
  networks: readonly RealNetwork[],
  { visits, congestion, seed }: Pick<Options, "visits" | "congestion" | "seed">,
): Visit[] {
  return Array.from({ length: visits }, (_, visit) => {
    const round = networks.flatMap(({ network }) => {
      const place = { network: { ...network, ...momentOf(network, seed, visit) }, congestion };
      return ARMS.map((arm): Visit => {
        const id = `${network.name}/${arm}/${visit}`;
        return { id, lastId: `${id}/${PAGES}`, place, page: "page", arm, visit };
      });
    });
    return shuffle(round, seededRandom(seed, "real-networks", visit));
  }).flat();
}

/** All arms of a round meet a path that changes from the same moment on. */
function momentOf(network: Network, seed: number, visit: number): Partial<Network> {
  const { name, profileRepeatMs } = network;
  if (profileRepeatMs === undefined) return {};
  return profileFrom(network, profileRepeatMs, integer(profileRepeatMs, seededRandom(seed, "phase", name, visit)));
}

/** Visits of Chromium over networks as they are: recorded rates, bursts, policed UDP. Who offers HTTP/3 to whom, by the shipped policy and by simple ones. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each network and arm (4)", [1, 1_000], 4),
    congestion: oneOf("NAME", "the server's TCP: cubic (by default) or bbr", ["cubic", "bbr"], "cubic"),
    traces: words(
      "FOLDER",
      "recorded links: packet traces (*.down), rates over time (*.txt); without it they are left out",
      undefined,
    ),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    shared: flag("a home line that a visit shares with a download, in one queue and in fq_codel"),
    quick: flag("two networks and short pauses: whether it works"),
  },
  row: REAL_ROW,
  folderName: ({ congestion, shared }) =>
    `real-networks${shared ? "-shared" : ""}${congestion === "cubic" ? "" : `-${congestion}`}`,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: (options) => ({
    congestion: options.congestion,
    seed: options.seed,
    quick: options.quick,
    networks: networksOf([], chosenBy(options)),
    traces: tracesOf(options).map(({ name, sha256 }) => ({ name, sha256 })),
  }),
  done: (options, rows) => shareMade(visitsBy(options), rows),
  lanes: ({ shared }) => (shared ? SHARED_LANES : LANES),
  prepare: async () => {
    const chromium = await versionOf("chromium");
    await buildLab();
    return { chromium };
  },
  measure: async (run) => {
    const { seed, shared, quick } = run.options;
    const all = visitsBy(run.options);
    const queue = missing(all, run.folder.rows);
    const phase = Array.from({ length: shared ? SHARED_LANES : LANES }, () => queue);
    const turns = new Turns();
    const take: Turns["take"] = (call) => turns.take(call, TURN_MS);
    const grid = rowsIn(join(import.meta.dirname, "../../results/ohashi-grid"), LOAD_ROW);
    const policies = {
      published: (_: unknown, tcp: Options["congestion"]) => publishedPolicy(publishedZeroLine(grid, tcp)),
    };
    await makeVisits(all, [phase], { arms: ARMS, policies }, run, async (first, visiting) => {
      const browser = await turns.take(() => openBrowser(first, visiting));
      return (visit) => {
        const nextMs = pausesOf(visit, seed);
        const pagesOf = (load: LoadAgain): Promise<RealRow[]> =>
          loadPages({ load, take, pages: PAGES }, async (page) => {
            const pauseMs = quick ? QUICK_MS : nextMs();
            await waitBefore(page, PAGES, visiting, { pauseMs, awayMs: quick ? QUICK_MS : undefined });
            return (seen) => rowOf(visit, page, seen);
          });
        const isShared = visit.place.network.crossTraffic !== undefined;
        return browser.visit(
          visit,
          seed,
          (load) => (isShared ? besideDownload(visiting, () => pagesOf(load)) : pagesOf(load)),
          take,
        );
      };
    });
  },
  summarise: ({ options, ...recorded }) => networksSummary(recorded, networksOf([], chosenBy(options)), options),
  report: networksReport,
});

/** Does the work while a download fills the lane's path. */
async function besideDownload<Result>({ lane, signal }: Visiting, work: () => Promise<Result>): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const { failed } = await startCrossTraffic(lane, stack);
  return await unlessItFails(failed, signal, work);
}

export function rowOf({ id, place, arm, visit }: Visit, page: number, seen: LoadedPage): RealRow {
  return blankRow(REAL_ROW, {
    ...seen,
    id: `${id}/${page}`,
    network: place.network.name,
    congestion: place.congestion,
    arm,
    visit,
    page,
    filesH3: shareOverH3(seen),
  });
}
