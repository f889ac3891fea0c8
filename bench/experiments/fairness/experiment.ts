import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { setNetwork } from "../../harness/in-lab.ts";
import { missing, shareMade } from "../../harness/missing.ts";
import { makeVisits, type Visiting } from "../../harness/visits.ts";
import { runPlan } from "../../lab/k6.ts";
import { LANES_MAX } from "../../lab/lane.ts";
import type { EmulatedPath } from "../../lab/path.ts";
import { buildLab, buildQuiche } from "../../lab/programs.ts";
import { flag, wholeNumber } from "../../model/options.ts";
import type { Load, LoadResult } from "../../model/plan.ts";
import { QUIC_ARMS } from "../../model/senders.ts";
import { fairnessReport, fairnessSummary, SEED } from "./report.ts";
import {
  doesCount,
  FAIRNESS_ROW,
  type FairnessRow,
  type FairPlace,
  type FairRun,
  NEWCOMERS,
  type Newcomer,
  overTcp,
  rowOf,
  type Watched,
} from "./row.ts";

const LOOK_EVERY_MS = 100;
/** Until k6 has started, on a machine with other runs. */
const K6_START_MS = 1_000;
/** Larger than what a flow gets in its time. */
const ENDLESS_BYTES = 1_000_000_000;

const USUAL = {
  paths: [
    { rateMbps: 20, rttMs: 40, others: [1, 4] },
    { rateMbps: 50, rttMs: 20, others: [1] },
    { rateMbps: 20, rttMs: 150, others: [1] },
  ],
  queuesBdp: [0.5, 4],
  /** By how much the newcomer and the others begin apart; what then is left out; what counts. */
  times: { apartMs: 2_000, leftOutMs: 5_000, countedMs: 20_000 },
};
const QUICK: typeof USUAL = {
  paths: [{ rateMbps: 20, rttMs: 40, others: [1] }],
  queuesBdp: [4],
  times: { apartMs: 300, leftOutMs: 500, countedMs: 2_000 },
};
type Times = (typeof USUAL)["times"];

const sizeOf = (isQuick: boolean): typeof USUAL => (isQuick ? QUICK : USUAL);

export function placesOf(isQuick: boolean): FairPlace[] {
  const { paths, queuesBdp } = sizeOf(isQuick);
  return paths.flatMap(({ others, ...path }) =>
    queuesBdp.flatMap((queueBdp) => others.map((count) => ({ ...path, queueBdp, others: count }))),
  );
}

/**
 * In rounds of one of each place and newcomer, each in an order of its own, in which those of one rate lie evenly: two of the fastest
 * at a time keep a core too busy.
 */
export function runsOf(places: readonly FairPlace[], rounds: number): FairRun[] {
  return Array.from({ length: rounds }, (_, round) => {
    const runs = places.flatMap((place) =>
      NEWCOMERS.map((sender) => {
        const { rateMbps, rttMs, queueBdp, others } = place;
        return { id: [rateMbps, rttMs, queueBdp, others, sender, round].join("/"), place, sender, round };
      }),
    );
    const random = seededRandom(SEED, "fairness", round);
    return [...Map.groupBy(runs, ({ place }) => place.rateMbps).values()]
      .flatMap((same) => shuffle(same, random).map((run, i) => ({ run, at: (i + 0.5) / same.length })))
      .toSorted((one, other) => one.at - other.at)
      .map(({ run }) => run);
  }).flat();
}

const roundsOf = ({ rounds, quick }: { rounds: number | undefined; quick: boolean }) => rounds ?? (quick ? 1 : 5);

/** One flow of each sender beside flows of TCP cubic in the same queue: what it takes, and what they lose. */
export const experiment = defineExperiment({
  options: {
    rounds: wholeNumber("of each place and newcomer (5)", [1, 1_000], undefined),
    lanes: wholeNumber("how many runs are made at a time (3)", [1, LANES_MAX], 3),
    quick: flag("one place, and seconds of each newcomer: whether it works"),
  },
  row: FAIRNESS_ROW,
  folderName: ({ quick }) => (quick ? "fairness-quick" : undefined),
  // Not how many rounds: a longer run goes on with the rows of a shorter one.
  question: ({ quick }) => sizeOf(quick),
  // What the machine spoiled is made again by the next start.
  done: (options, rows) => shareMade(runsOf(placesOf(options.quick), roundsOf(options)), rows.filter(doesCount)),
  lanes: ({ lanes }) => lanes,
  prepare: async () => {
    await buildLab();
    await buildQuiche();
    return undefined;
  },
  measure: async (run) => {
    const all = runsOf(placesOf(run.options.quick), roundsOf(run.options));
    const queue = missing(all, run.folder.rows.filter(doesCount));
    const queues = Array.from({ length: run.options.lanes }, () => queue);
    const { times } = sizeOf(run.options.quick);
    await makeVisits(all, [queues], { arms: ["bare", ...Object.values(QUIC_ARMS)] }, run, (_, visiting) =>
      Promise.resolve(async (one) => [await measureRun(one, visiting, times)]),
    );
  },
  summarise: ({ options: { quick }, ...recorded }) => fairnessSummary(recorded, placesOf(quick)),
  report: fairnessReport,
});

async function measureRun(one: FairRun, visiting: Visiting, times: Times): Promise<FairnessRow> {
  const { lane, cores, signal } = visiting;
  const { rateMbps, rttMs, queueBdp, others } = one.place;
  const queueBytes = (queueBdp * rateMbps * rttMs * 1_000) / 8;
  await setNetwork(lane, { rateMbps, delayMs: rttMs / 2, queueBytes, lossRatio: 0 }, SEED, one.id);
  const fromMs = Date.now() + K6_START_MS + times.apartMs + times.leftOutMs;
  const counted = { fromMs, toMs: fromMs + times.countedMs };
  const isAhead = one.round % 2 === 0;
  const [own, theirs, path] = await Promise.all([
    download("own", one.sender, 1, isAhead ? 0 : times.apartMs, counted, visiting),
    download("others", "cubic", others, isAhead ? times.apartMs : 0, counted, visiting),
    watch(lane.path, counted, signal),
  ]);
  return rowOf(one, times.countedMs, own, theirs, path, cores.busyRatio(fromMs, counted.toMs));
}

/** Flows of one sender, by a k6 of their own. They go on beyond the time that counts. @throws UserError */
async function download(
  name: "own" | "others",
  sender: Newcomer,
  flows: number,
  afterMs: number,
  counted: NonNullable<Load["counted"]>,
  { lane, folder, signal }: Visiting,
): Promise<LoadResult[]> {
  await pause(afterMs, undefined, { signal });
  const isTcp = overTcp(sender);
  const { edgePids, ...origin } = isTcp ? lane.origin("bare", sender) : lane.origin(QUIC_ARMS[sender], "cubic");
  const load: Load = {
    id: name,
    clientAddress: lane.freshClient(),
    origin,
    edgePids,
    timeoutMs: counted.toMs - Date.now(),
    switch: "wait",
    // A handshake that loses packets in a full queue is no reason to give up QUIC.
    quicTimeoutMs: 10_000,
    counted,
    sessions: [
      {
        timed: true,
        firstProtocol: isTcp ? "h2" : "h3",
        pages: [{ document: `/image/${ENDLESS_BYTES}`, subresources: [] }],
        pauseAfterMs: 0,
      },
    ],
  };
  const results: LoadResult[] = [];
  await runPlan({
    plan: { control: null, crowd: flows, loads: [load] },
    file: join(folder, `plan-${lane.index}-${name}.json`),
    namespace: lane.clientNamespace,
    signal,
    onResult: async (result) => {
      results.push(result);
    },
  });
  return results;
}

async function watch(
  path: EmulatedPath,
  { fromMs, toMs }: NonNullable<Load["counted"]>,
  signal: AbortSignal,
): Promise<Watched> {
  await pause(fromMs - Date.now(), undefined, { signal });
  const before = await path.stats();
  const waitingBytes = [before.bToA.waitingBytes];
  let after = before;
  while (Date.now() < toMs) {
    await pause(LOOK_EVERY_MS, undefined, { signal });
    after = await path.stats();
    waitingBytes.push(after.bToA.waitingBytes);
  }
  return { before, after, waitingBytes };
}
