import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { resumeOf } from "../../model/flow.ts";
import { sessionsOf } from "../../model/sessions.ts";
import type { Load as PlannedLoad, LoadResult, Plan } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { runPlan } from "../../lab/k6.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { profileFrom } from "./path-profile.ts";
import type { SampleBook } from "./sample-book.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { rowOf } from "./row-of.ts";
import type { Load } from "./schedule.ts";
import { type WindowPoint, windowsOf } from "./windows.ts";

const FAILURE_SETTLES_MS = 300;

export interface BatchOptions {
  readonly experiment: LoadExperiment;
  readonly cell: Cell;
  readonly loads: readonly Load[];
  readonly lane: Lane;
  readonly seed: number;
  readonly switching: "wait" | "background";
  readonly folder: string;
  readonly samples: SampleBook;
  readonly signal: AbortSignal;
  readonly onRow: (row: LoadRow) => void;
  /** Told before the row. */
  readonly onWindows: (points: readonly WindowPoint[]) => void;
}

/** Makes loads of one cell in one lane, one after another, by one k6. @throws UserError where k6 fails */
export async function runBatch(options: BatchOptions): Promise<void> {
  const { cell, lane, loads, signal } = options;
  const first = loads[0];
  if (first === undefined || signal.aborted) return;
  const { jitterMs, lossRatio, queueBytes, profileRepeatMs } = cell.network;
  const jitter = jitterMs === undefined ? {} : { jitterMs };
  // A path that repeats itself is met anywhere in it, by all loads of a turn from the same moment.
  const random = seededRandom(options.seed, "phase", cell.id, first.turn);
  const {
    rateMbps,
    delayMs,
    profile = [],
  } = profileRepeatMs === undefined
    ? cell.network
    : profileFrom(cell.network, profileRepeatMs, integer(profileRepeatMs, random));
  await lane.path.set({
    // Each batch has draws of its own: a round that is made up for does not meet the same losses again.
    seed: integer(2 ** 31, seededRandom(options.seed, "path", first.id)),
    aToB: { rateMbps, delayMs, queueBytes, ...jitter },
    bToA: { rateMbps, delayMs, queueBytes, lossRatio, ...jitter },
    ...(profile.length > 0 && {
      profile: profile.map(({ atMs, ...change }) => ({ atMs, aToB: change, bToA: change })),
    }),
    ...(profileRepeatMs !== undefined && { profileRepeatMs }),
  });
  await lane.setInitialWindow(cell.tcp?.initialWindow);
  const plan: Plan = { control: lane.path.control, loads: loads.map(planned) };
  const movedTo = new Map(plan.loads.flatMap(({ id, move }) => (move === undefined ? [] : [[id, move.clientAddress]])));
  const byId = new Map(loads.map((load) => [load.id, load]));
  await runPlan({
    plan,
    file: join(options.folder, `plan-${lane.index}.json`),
    namespace: lane.clientNamespace,
    signal,
    onResult: async (result) => {
      const load = byId.get(result.id);
      if (load !== undefined) await finish(load, result);
    },
  });

  function planned(load: Load): PlannedLoad {
    const { edgePids, ...origin } = lane.origin(load.arm, cell.congestion);
    const resume = resumeOf(load.flow);
    return {
      id: load.id,
      clientAddress: lane.freshClient(),
      origin,
      edgePids,
      timeoutMs: options.experiment.timeoutMs,
      switch: options.switching,
      // Over HTTP/1.1 these are connections: as many as browsers open.
      ...(cell.images !== undefined && load.arm !== "fixed-h1" && { parallel: cell.images }),
      ...(load.flow === "moved" && {
        move: { afterBytes: Math.ceil(cell.imageBytes / 2), clientAddress: lane.freshClient() },
      }),
      ...(resume !== undefined && { resume }),
      ...(cell.udpReceiveBufferBytes !== undefined && { udpReceiveBufferBytes: cell.udpReceiveBufferBytes }),
      sessions: sessionsOf(load.flow, load.arm, cell),
    };
  }

  async function finish(load: Load, result: LoadResult): Promise<void> {
    const to = movedTo.get(load.id);
    // Of a client that has moved, the server knows its last connection by its last address.
    const left = to === undefined ? result.connections.length : result.connections.length - 1;
    const samples = [
      ...(await options.samples.closed(result.clientAddress, result.startedMs, left)),
      ...(to === undefined ? [] : await options.samples.closed(to, result.startedMs, 1)),
    ];
    if (result.outcome === "failed") {
      // Whether the load failed or the system under it is told a moment later: then it is no result.
      await pause(FAILURE_SETTLES_MS);
      if (signal.aborted) return;
    }
    const row = rowOf(options.experiment, cell, load, result, samples);
    const { traceFile } = lane.origin(load.arm, cell.congestion);
    if (cell.isTraced === true && load.round === 0 && traceFile !== undefined)
      options.onWindows(windowsOf(row, samples, readFileSync(traceFile, "utf8")));
    options.onRow(row);
  }
}
