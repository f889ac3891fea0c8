import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { timesLastPage } from "../../model/flow.ts";
import type { LoadResult } from "../../model/plan.ts";
import type { PostedSample } from "../../lab/tee.ts";
import { measuredPath } from "./join-samples.ts";
import type { LoadRow } from "../../model/load-row.ts";
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
  const trainedOn =
    load.arm !== "adaptive" ? "" : load.flow === "trained" ? "quic" : load.flow === "trained-on-h2" ? "tcp" : "";
  const trained = trainedOn === "" ? undefined : measuredPath(samples, trainedOn, 0, result.startedMs);
  const { network } = cell;
  return {
    id: load.id,
    cell: cell.id,
    congestion: cell.congestion,
    arm: load.arm,
    flow: load.flow,
    round: load.round,
    imageBytes: cell.imageBytes,
    rateMbps: network.rateMbps,
    delayMs: network.delayMs,
    lossRatio: network.lossRatio,
    startedMs: result.startedMs,
    outcome: result.outcome,
    error: result.error,
    dropped: whyDropped(result),
    loadMs:
      result.outcome === "timeout"
        ? experiment.timeoutMs
        : result.loadMs !== null && timesLastPage(load.flow)
          ? (result.pageMs.at(-1) ?? null)
          : result.loadMs,
    pagesMs: result.pageMs.map((ms) => ms.toFixed(3)).join(";"),
    handshakeMs: result.handshakeMs,
    switchHandshakeMs: result.switchHandshakeMs,
    ttfbMs: result.ttfbMs,
    documentProtocol: result.documentProtocol,
    lastProtocol: result.lastProtocol,
    switched: result.switched,
    altSvc: result.altSvc,
    altSvcBroken: result.altSvcBroken,
    bytes: result.bytes,
    edgeCpuMs: result.edgeCpuMs,
    clientCpuMs: result.clientCpuMs,
    busyRatio: result.busyRatio,
    lateRatio: result.lateRatio,
    droppedLoss: result.droppedLoss,
    droppedQueue: result.droppedQueue,
    tcpRttMs: tcp.rttMs,
    tcpMinRttMs: tcp.minRttMs,
    tcpPacketsSent: tcp.packetsSent,
    tcpPacketsLost: tcp.packetsLost,
    tcpDeliveryRateBps: tcp.deliveryRateBps,
    quicRttMs: quic.rttMs,
    quicMinRttMs: quic.minRttMs,
    quicPacketsSent: quic.packetsSent,
    quicPacketsLost: quic.packetsLost,
    quicDeliveryRateBps: quic.deliveryRateBps,
    trainedOn,
    trainedRttMs: trained?.rttMs ?? null,
    trainedMinRttMs: trained?.minRttMs ?? null,
    trainedPacketsSent: trained?.packetsSent ?? null,
    trainedPacketsLost: trained?.packetsLost ?? null,
    trainedDeliveryRateBps: trained?.deliveryRateBps ?? null,
  };
}

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
