import { BUSY_RATIO_MAX, LATE_RATIO_MAX } from "../../harness/loads/row-of.ts";
import { type PathCounters } from "../../lab/path-counters.ts";
import type { ClientLine, CrossRow } from "./row.ts";
import type { CrossLoad } from "./schedule.ts";
import { OBJECT_BYTES } from "./settings.ts";

/** One row: what was asked, what the client printed, and what the driver saw of machine and path around it. */
export function crossRow(load: CrossLoad, line: ClientLine, busyRatio: number, counted: PathCounters): CrossRow {
  const error = line.outcome === "ok" ? faultOf(load, line) : line.error;
  const outcome = line.outcome === "ok" && error !== "" ? "failed" : line.outcome;
  const lateRatio = counted.late / (counted.up + counted.down);
  return {
    id: load.id,
    setting: load.setting.network.name,
    protocol: load.protocol,
    client: load.client,
    round: load.round,
    startedMs: rounded(line.startedMs),
    outcome,
    error,
    dropped: busyRatio > BUSY_RATIO_MAX ? "busy" : lateRatio > LATE_RATIO_MAX ? "late" : "",
    loadMs: rounded(line.loadMs),
    handshakeMs: rounded(line.handshakeMs),
    ttfbMs: rounded(line.ttfbMs),
    bytes: line.bytes ?? 0,
    clientCpuMs: rounded(line.clientCpuMs),
    busyRatio: rounded(busyRatio, 4),
    lateRatio: rounded(lateRatio, 6),
    droppedLoss: counted.droppedLoss,
    droppedQueue: counted.droppedQueue,
    packetsUp: counted.up,
    packetsDown: counted.down,
  };
}

/** As precise as it was measured, and no wider in the file; NaN where it is not known. */
function rounded(value: number | null | undefined, digits = 3): number {
  return Number((value ?? Number.NaN).toFixed(digits));
}

/** Why a load that its client takes for a good one is not the load that was wanted. */
function faultOf({ protocol }: CrossLoad, { bytes, documentProtocol }: ClientLine): string {
  if (bytes !== OBJECT_BYTES) return `${bytes ?? 0} bytes came instead of ${OBJECT_BYTES}`;
  if (documentProtocol !== undefined && documentProtocol !== protocol)
    return `it came over ${documentProtocol} instead of ${protocol}`;
  return "";
}
