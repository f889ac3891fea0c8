import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { resumeOf } from "../../model/flow.ts";
import { sessionsOf } from "../../model/sessions.ts";
import type { Load as PlannedLoad, LoadResult } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { runPlan } from "../../lab/k6.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { setNetwork } from "../set-network.ts";
import { profileFrom } from "./path-profile.ts";
import type { SampleBook } from "./sample-book.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { rowOf } from "./row-of.ts";
import type { Load } from "./schedule.ts";
import { type WindowPoint, windowsOf } from "./windows.ts";

const FAILURE_SETTLES_MS = 300;

/** What the batches of a run share. */
export interface BatchOptions {
  readonly experiment: LoadExperiment;
  readonly seed: number;
  readonly switch: PlannedLoad["switch"];
  readonly folder: string;
  readonly samples: SampleBook;
  readonly signal: AbortSignal;
  /** With the congestion windows of its connections, where they are traced. */
  readonly onRow: (row: LoadRow, windows: readonly WindowPoint[]) => void;
}

/** Makes loads of one cell in one lane, one after another, by one k6. @throws UserError where k6 fails */
export async function runBatch(
  lane: Lane,
  cell: Cell,
  loads: readonly Load[],
  { experiment, seed, switch: how, folder, samples, signal, onRow }: BatchOptions,
): Promise<void> {
  const first = loads[0];
  if (first === undefined || signal.aborted) return;
  await setPath(lane, cell, first, seed);
  await lane.setInitialWindow(cell.tcp?.initialWindow);
  const planned = loads.map((load) => ({ load, plan: { ...planOf(load, cell, lane, experiment), switch: how } }));
  const finish = async (result: LoadResult): Promise<void> => {
    const { load, plan } = planned.find(({ load: { id } }) => id === result.id) ?? {};
    if (load === undefined) return;
    const to = plan?.move?.clientAddress;
    // Of a client that has moved, the server knows its last connection by its last address.
    const left = result.connections.length - (to === undefined ? 0 : 1);
    const own = [
      ...(await samples.closed(result.clientAddress, result.startedMs, left)),
      ...(to === undefined ? [] : await samples.closed(to, result.startedMs, 1)),
    ];
    if (result.outcome === "failed") {
      // Whether the load failed or the system under it is told a moment later: then it is no result.
      await pause(FAILURE_SETTLES_MS);
      if (signal.aborted) return;
    }
    const row = rowOf(experiment, cell, load, result, own);
    const { traceFile } = lane.origin(load.arm, cell.congestion);
    const isTraced = cell.isTraced === true && load.round === 0 && traceFile !== undefined;
    onRow(row, isTraced ? windowsOf(row, own, readFileSync(traceFile, "utf8")) : []);
  };
  await runPlan({
    plan: { control: lane.path.control, loads: planned.map(({ plan }) => plan) },
    file: join(folder, `plan-${lane.index}.json`),
    namespace: lane.clientNamespace,
    signal,
    onResult: finish,
  });
}

async function setPath(lane: Lane, { id, network }: Cell, first: Load, seed: number): Promise<void> {
  const { profileRepeatMs } = network;
  // A path that repeats itself is met anywhere in it, by all loads of a turn from the same moment.
  const phase = seededRandom(seed, "phase", id, first.turn);
  const from =
    profileRepeatMs === undefined ? {} : profileFrom(network, profileRepeatMs, integer(profileRepeatMs, phase));
  // Each batch has draws of its own: a round that is made up for does not meet the same losses again.
  await setNetwork(lane, { ...network, ...from }, seed, first.id);
}

function planOf(
  { id, arm, flow }: Load,
  cell: Cell,
  lane: Lane,
  { timeoutMs }: LoadExperiment,
): Omit<PlannedLoad, "switch"> {
  const { edgePids, ...origin } = lane.origin(arm, cell.congestion);
  return {
    id,
    clientAddress: lane.freshClient(),
    origin,
    edgePids,
    timeoutMs,
    // Over HTTP/1.1 these are connections: as many as browsers open.
    parallel: arm === "fixed-h1" ? undefined : cell.images,
    move:
      flow === "moved" ? { afterBytes: Math.ceil(cell.imageBytes / 2), clientAddress: lane.freshClient() } : undefined,
    resume: resumeOf(flow),
    udpReceiveBufferBytes: cell.udpReceiveBufferBytes,
    sessions: sessionsOf(flow, arm, cell),
  };
}
