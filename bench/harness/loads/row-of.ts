import type { Transport } from "../../../policy-api/decision/sample.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { type Flow, timesLastPage } from "../../model/flow.ts";
import type { LoadResult } from "../../model/plan.ts";
import type { PostedSample } from "../../lab/tee.ts";
import { type LoadRow, pathColumns } from "../../model/load-row.ts";
import { measuredPath } from "./sample-book.ts";
import type { Load } from "./schedule.ts";

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
export function whyDropped(result: LoadResult): LoadRow["dropped"] {
  const { busyRatio, lateRatio, droppedFault, loadMs, edgeCpuMs, clientCpuMs } = result;
  if ((droppedFault ?? 0) > 0) return "fault";
  const ownRatio = loadMs === null ? 0 : Math.max(edgeCpuMs ?? 0, clientCpuMs ?? 0) / loadMs;
  if (Math.max(busyRatio ?? 0, ownRatio) > BUSY_RATIO_MAX) return "busy";
  return (lateRatio ?? 0) > LATE_RATIO_MAX ? "late" : "";
}
