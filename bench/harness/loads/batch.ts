import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Cell, Network } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { type Flow, resumeOf, timesLastPage } from "../../model/flow.ts";
import { sessionsOf } from "../../model/sessions.ts";
import type { Load as PlannedLoad, LoadResult } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { runPlan } from "../../lab/k6.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { setNetwork } from "../in-lab.ts";
import { measuredPath, type SampleBook } from "./sample-book.ts";
import { type LoadRow, pathColumns } from "../../model/load-row.ts";
import type { Load } from "./schedule.ts";
import { type WindowPoint, windowsOf } from "./windows.ts";
import type { Transport } from "../../../policy-api/decision/sample.ts";
import type { PostedSample } from "../../lab/tee.ts";

const FAILURE_SETTLES_MS = 300;

/** What the batches of a run share. */
export interface BatchOptions {
  readonly experiment: LoadExperiment;
  readonly seed: number;
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
  { experiment, seed, folder, samples, signal, onRow }: BatchOptions,
): Promise<void> {
  const first = loads[0];
  if (first === undefined || signal.aborted) return;
  await setPath(lane, cell, first, seed);
  await lane.setTcp(cell.tcp ?? {});
  const planned = loads.map((load) => ({ load, plan: planOf(load, cell, lane, experiment) }));
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

function planOf({ id, arm, flow }: Load, cell: Cell, lane: Lane, experiment: LoadExperiment): PlannedLoad {
  const { timeoutMs, switch: how = "background" } = experiment;
  const { edgePids, ...origin } = lane.origin(arm, cell.congestion);
  return {
    id,
    clientAddress: lane.freshClient(),
    origin,
    edgePids,
    timeoutMs,
    switch: how,
    // Over HTTP/1.1 these are connections: as many as browsers open.
    parallel: arm === "fixed-h1" ? undefined : cell.images,
    move:
      flow === "moved" ? { afterBytes: Math.ceil(cell.imageBytes / 2), clientAddress: lane.freshClient() } : undefined,
    resume: resumeOf(flow),
    udpReceiveBufferBytes: cell.udpReceiveBufferBytes,
    sessions: sessionsOf(flow, arm, cell),
  };
}

/** How a path that repeats itself goes on from a moment of it: what it is then, and what changes after. */
export function profileFrom(
  { rateMbps, delayMs, lossRatio, profile = [] }: Pick<Network, "rateMbps" | "delayMs" | "lossRatio" | "profile">,
  repeatMs: number,
  offsetMs: number,
): Pick<Network, "rateMbps" | "delayMs" | "lossRatio" | "profile"> {
  const states = [{ atMs: 0, rateMbps, delayMs }, ...profile].map((state) => ({ lossRatio, ...state }));
  const now = states.findLast(({ atMs }) => atMs <= offsetMs) ?? states[0];
  const later = states
    .map(({ atMs, ...state }) => ({ atMs: (atMs - offsetMs + repeatMs) % repeatMs, ...state }))
    .filter(({ atMs }) => atMs > 0)
    .toSorted((one, other) => one.atMs - other.atMs);
  return {
    rateMbps: now?.rateMbps ?? rateMbps,
    delayMs: now?.delayMs ?? delayMs,
    lossRatio: now?.lossRatio ?? lossRatio,
    profile: later,
  };
}

/** A core busier than this may have made the load slower than the path did. */
export const BUSY_RATIO_MAX = 0.85;
/** Share of packets that may leave the emulated path over 1 ms late: the bound that its delay keeps at p99. */
export const LATE_RATIO_MAX = 0.01;

/** One row: what was asked, what the client saw and what the edge counted. */
export function rowOf(
  experiment: LoadExperiment,
  cell: Cell,
  load: Load,
  result: LoadResult,
  samples: readonly PostedSample[],
): LoadRow {
  const tcp = measuredPath(samples, "tcp", result.startedMs);
  const quic = measuredPath(samples, "quic", result.startedMs);
  const trainedOn = load.arm === "adaptive" ? (TRAINED_ON[load.flow] ?? "") : "";
  const trained = trainedOn === "" ? undefined : measuredPath(samples, trainedOn, 0, result.startedMs);
  const { rateMbps, delayMs, lossRatio } = cell.network;
  const lastPageMs = result.pageMs.at(-1) ?? null;
  const measuredMs = result.loadMs !== null && timesLastPage(load.flow) ? lastPageMs : result.loadMs;
  return {
    // What the client saw and what was asked of it. Fields that are no columns are not written.
    ...result,
    ...load,
    cell: cell.id,
    congestion: cell.congestion,
    imageBytes: cell.imageBytes,
    rateMbps,
    delayMs,
    lossRatio,
    dropped: whyDropped(result),
    loadMs: result.outcome === "timeout" ? experiment.timeoutMs : measuredMs,
    pagesMs: result.pageMs.map((ms) => ms.toFixed(3)).join(";"),
    ...pathColumns("tcp", (field) => tcp[field]),
    ...pathColumns("quic", (field) => quic[field]),
    trainedOn,
    ...pathColumns("trained", (field) => trained?.[field] ?? null),
  };
}

/** Over which transport the session before the timed one goes. */
const TRAINED_ON: Readonly<Partial<Record<Flow, Transport>>> = { trained: "quic", "trained-on-h2": "tcp" };

/**
 * Whether the load met what no network asked for: a busy machine, a late path, packets lost by the emulator's fault.
 *
 * The kernel counts a core's time in ticks of 10 ms, so that its busy share is of 250 ms or more; a short load that kept a
 * core busy all its time does not show there, but in the CPU time of the edge or the client against its own time.
 */
export function whyDropped({
  busyRatio,
  lateRatio,
  droppedFault,
  loadMs,
  edgeCpuMs,
  clientCpuMs,
}: Pick<
  LoadResult,
  "busyRatio" | "lateRatio" | "droppedFault" | "loadMs" | "edgeCpuMs" | "clientCpuMs"
>): LoadRow["dropped"] {
  if ((droppedFault ?? 0) > 0) return "fault";
  const ownRatio = loadMs === null ? 0 : Math.max(edgeCpuMs ?? 0, clientCpuMs ?? 0) / loadMs;
  if (Math.max(busyRatio ?? 0, ownRatio) > BUSY_RATIO_MAX) return "busy";
  return (lateRatio ?? 0) > LATE_RATIO_MAX ? "late" : "";
}
