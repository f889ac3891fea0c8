import { join, resolve } from "node:path";
import { gainTableOf, tablePolicyOf } from "../../analysis/calibrate/calibrate.ts";
import { priceIn } from "../../analysis/calibrate/price.ts";
import { publishedPolicy, publishedZeroLine } from "../../analysis/population/contenders.ts";
import { placesOf } from "../../analysis/senders/places.ts";
import { integer, seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { setNetwork, unlessItFails } from "../../harness/in-lab.ts";
import { profileFrom } from "../../harness/loads/batch.ts";
import { missing, type Named, shareMade } from "../../harness/missing.ts";
import { makeVisits, type Visiting } from "../../harness/visits.ts";
import { startCrossTraffic } from "../../lab/cross-traffic.ts";
import { runPlan } from "../../lab/k6.ts";
import { documentOf } from "../../model/browser-pages.ts";
import { LOAD_ROW } from "../../model/load-row.ts";
import { flag, wholeNumber, words } from "../../model/options.ts";
import type { Load, LoadResult, Page } from "../../model/plan.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { blankRow } from "../../model/row-schema.ts";
import { readTraces } from "../../model/trace.ts";
import { type Chosen, networksOf, type RealNetwork } from "./networks.ts";
import { ARMS, networksReport, networksSummary, PAGES, REAL_ROW, type RealRow, STACKS } from "./report.ts";

/** Between pages, drawn: whatever the pause, what a network does to UDP has to be noticed. */
const PAUSE_MS = { least: 1_000, most: 7_000 };
/** Before a return. The connections have ended: how long ago matters only to offers, which live longer. */
const AWAY_MS = 4_000;
const FILES = 10;
const FILE_BYTES = { usual: 100_000, quick: 20_000 };
const TIMEOUT_MS = 240_000;
/** Ten kept a core busy for more than 85 % of the time in 16 of 62 places. */
const LANES = 8;
/** Above it a load keeps a core busy: so many at a time. */
const FAST_MBPS = 60;
const FAST_LANES = 4;
/** A download beside each visit keeps it busy all the time. */
const SHARED_LANES = 2;
const isFast = ({ network }: Visit): boolean => network.rateMbps > FAST_MBPS || network.crossTraffic !== undefined;

interface Visit extends Named {
  readonly network: RealNetwork["network"];
  readonly congestion: (typeof STACKS)[number];
  readonly arm: RealRow["arm"];
  /** From 0. */
  readonly visit: number;
}

interface Options {
  readonly visits: number;
  readonly seed: number;
  readonly traces: string | undefined;
  readonly shared: boolean;
  readonly quick: boolean;
}

const chosenBy = ({ shared, quick }: Pick<Options, "shared" | "quick">): Chosen =>
  shared ? "shared" : quick ? "quick" : "own";

const tracesOf = ({ traces, quick }: Options) => (traces === undefined || quick ? [] : readTraces(resolve(traces)));

/** In rounds of one of each network, stack and arm, each in an order of its own. */
export function visitsOf(networks: readonly RealNetwork[], visits: number, seed: number): Visit[] {
  return Array.from({ length: visits }, (_, visit) => {
    const round = networks.flatMap(({ network }) =>
      STACKS.flatMap((congestion) =>
        ARMS.map((arm): Visit => {
          const id = `${network.name}/${congestion}/${arm}/${visit}`;
          return { id, lastId: `${id}/${PAGES}`, network, congestion, arm, visit };
        }),
      ),
    );
    return shuffle(round, seededRandom(seed, "real-networks", visit));
  }).flat();
}

/** Visits over networks as they are: recorded rates, bursts, policed UDP. Who offers HTTP/3 to whom, by shipped policies and by simple ones. */
export const experiment = defineExperiment({
  options: {
    visits: wholeNumber("of each network, stack and arm (4)", [1, 1_000], 4),
    traces: words(
      "FOLDER",
      "recorded links: packet traces (*.down), rates over time (*.txt); without it they are left out",
      undefined,
    ),
    seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    shared: flag("a home line that a visit shares with a download, in one queue and in fq_codel"),
    quick: flag("two networks and small pages: whether it works"),
  },
  row: REAL_ROW,
  // Not how many visits: a longer run goes on with the rows of a shorter one.
  question: (options) => ({
    seed: options.seed,
    quick: options.quick,
    networks: networksOf([], chosenBy(options)),
    traces: tracesOf(options).map(({ name, sha256 }) => ({ name, sha256 })),
  }),
  done: (options, rows) =>
    shareMade(visitsOf(networksOf(tracesOf(options), chosenBy(options)), options.visits, options.seed), rows),
  lanes: () => LANES,
  measure: async (run) => {
    const { visits, seed, shared, quick } = run.options;
    const all = visitsOf(networksOf(tracesOf(run.options), chosenBy(run.options)), visits, seed);
    const left = missing(all, run.folder.rows);
    const [slow, fast] = [left.filter((visit) => !isFast(visit)), left.filter(isFast)];
    const lanes = (queue: Visit[], count: number) => Array.from({ length: count }, () => queue);
    const results = join(import.meta.dirname, "../../results");
    const grid = rowsIn(join(results, "ohashi-grid"), LOAD_ROW);
    const places = placesOf(rowsIn(join(results, "senders"), LOAD_ROW));
    const price = priceIn(join(results, "offers"));
    const policies = {
      table: (_: unknown, tcp: Visit["congestion"]) => {
        const tabled = gainTableOf(places, { tcp, quic: "quic-go" }, price);
        if ("missing" in tabled) throw new Error(`The table lacks ${tabled.missing.join("; ")}.`);
        return tablePolicyOf(tabled.table);
      },
      published: (_: unknown, tcp: Visit["congestion"]) => publishedPolicy(publishedZeroLine(grid, tcp)),
    };
    await makeVisits(
      all,
      [lanes(slow, LANES), lanes(fast, shared ? SHARED_LANES : FAST_LANES)],
      { arms: ARMS, policies },
      run,
      (_, visiting) =>
        Promise.resolve((visit) => measureVisit(visit, visiting, seed, quick ? FILE_BYTES.quick : FILE_BYTES.usual)),
    );
  },
  summarise: ({ options, ...recorded }) => networksSummary(recorded, networksOf([], chosenBy(options)), options.seed),
  report: networksReport,
});

async function measureVisit(
  visit: Visit,
  { lane, folder, signal }: Visiting,
  seed: number,
  fileBytes: number,
): Promise<RealRow[]> {
  const { id, network, congestion, arm } = visit;
  const { profileRepeatMs } = network;
  // All arms of a round meet a path that changes from the same moment on.
  const phase = seededRandom(seed, "phase", network.name, visit.visit);
  const from =
    profileRepeatMs === undefined ? {} : profileFrom(network, profileRepeatMs, integer(profileRepeatMs, phase));
  await setNetwork(lane, { ...network, ...from }, seed, id);
  const { edgePids, ...origin } = lane.origin(arm, congestion);
  // The worker knows by its document's path how much a page transfers.
  const page: Omit<Page, "pauseAfterMs"> = {
    document: documentOf(FILES * fileBytes),
    subresources: Array.from({ length: FILES }, () => `/image/${fileBytes}`),
  };
  const pauses = seededRandom(seed, "pauses", id);
  const pages = Array.from({ length: PAGES }, (_, i) =>
    i === PAGES - 2
      ? { ...page, leavesAfter: true, pauseAfterMs: AWAY_MS }
      : { ...page, pauseAfterMs: PAUSE_MS.least + integer(PAUSE_MS.most - PAUSE_MS.least, pauses) },
  );
  const load: Load = {
    id,
    clientAddress: lane.freshClient(),
    origin,
    edgePids,
    timeoutMs: TIMEOUT_MS,
    switch: "background",
    parallel: FILES,
    sessions: [{ timed: true, firstProtocol: "h2", pages, pauseAfterMs: 0 }],
  };
  const rows: RealRow[] = [];
  const makeLoad = (either: AbortSignal) =>
    runPlan({
      plan: { control: lane.path.control, loads: [load] },
      file: join(folder, `plan-${lane.index}.json`),
      namespace: lane.clientNamespace,
      signal: either,
      onResult: async (result) => {
        rows.push(...rowsOf(visit, result));
      },
    });
  if (network.crossTraffic === undefined) await makeLoad(signal);
  else {
    await using stack = new AsyncDisposableStack();
    const { failed } = await startCrossTraffic(lane, stack);
    await unlessItFails(failed, signal, makeLoad);
  }
  return rows;
}

/** A row for each page; one that did not load says why. */
export function rowsOf({ id, network, congestion, arm, visit }: Visit, result: LoadResult): RealRow[] {
  return Array.from({ length: PAGES }, (_, i) => {
    const loadMs = result.pageMs[i] ?? null;
    const overH3 = result.filesH3[i];
    const outcome = result.outcome === "ok" ? "failed" : result.outcome;
    return blankRow(REAL_ROW, {
      id: `${id}/${i + 1}`,
      network: network.name,
      congestion,
      arm,
      visit,
      page: i + 1,
      startedMs: result.startedMs,
      ...(loadMs === null ? { outcome, error: result.error } : { outcome: "ok" }),
      loadMs,
      filesH3: overH3 === undefined ? null : overH3 / FILES,
      busyRatio: result.busyRatio,
      lateRatio: result.lateRatio,
    });
  });
}
