import { BUSY_RATIO_MAX, LATE_RATIO_MAX } from "../../harness/loads/row-of.ts";
import type { PathCounters } from "../../lab/path-counters.ts";
import type { LoadResult } from "../../model/plan.ts";
import { float, floatOrNaN, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { type Client, type CrossProtocol, OBJECT_BYTES, type Setting } from "./settings.ts";

/** A load that is to be made. */
export interface CrossLoad {
  readonly id: string;
  readonly setting: Setting;
  readonly protocol: CrossProtocol;
  readonly client: Client;
  readonly round: number;
}

/** One load of one client. What is not known is NaN, an empty field in the file. */
export const CROSS_ROW = {
  id: string(),
  /** The network's name. */
  setting: string(),
  protocol: string<CrossProtocol>(),
  client: string<Client>(),
  round: float,
  /** Since the epoch. */
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** Why a load that went well does not count: the machine was slower than the path. */
  dropped: string<"" | "busy" | "late">(),
  /** From before the connection's opening to the last byte of the body. */
  loadMs: floatOrNaN,
  /** TCP and TLS, or QUIC. */
  handshakeMs: floatOrNaN,
  ttfbMs: floatOrNaN,
  bytes: float,
  clientCpuMs: floatOrNaN,
  /** Of the busiest core. */
  busyRatio: floatOrNaN,
  /** Share of the packets that left the path over 1 ms late. */
  lateRatio: floatOrNaN,
  droppedLoss: float,
  droppedQueue: float,
  /** From the client to the server, most of them acknowledgements. */
  packetsUp: float,
  packetsDown: float,
} as const satisfies RowSchema;

export type CrossRow = RowOf<typeof CROSS_ROW>;

export function counts(row: Pick<CrossRow, "outcome" | "dropped">): boolean {
  return row.outcome === "ok" && row.dropped === "";
}

/**
 * What both clients print, one line a load; k6's line has more. Only k6 names a protocol: a session that could not begin with
 * HTTP/3 goes on over HTTP/2, which is no load of the kind wanted.
 */
export type ClientLine = Pick<LoadResult, "outcome" | "error" | "startedMs"> &
  Partial<Pick<LoadResult, "loadMs" | "handshakeMs" | "ttfbMs" | "bytes" | "clientCpuMs" | "documentProtocol">>;

/** One row: what was asked, what the client printed, and what the driver saw of machine and path around it. */
export function crossRow(load: CrossLoad, line: ClientLine, busyRatio: number, counted: PathCounters): CrossRow {
  const { id, setting, protocol, client, round } = load;
  const { startedMs, loadMs, handshakeMs, ttfbMs, bytes = 0, clientCpuMs } = line;
  const error = line.outcome === "ok" ? faultOf(load, line) : line.error;
  const lateRatio = counted.late / (counted.up + counted.down);
  return {
    id,
    setting: setting.network.name,
    protocol,
    client,
    round,
    startedMs,
    outcome: line.outcome === "ok" && error !== "" ? "failed" : line.outcome,
    error,
    dropped: busyRatio > BUSY_RATIO_MAX ? "busy" : lateRatio > LATE_RATIO_MAX ? "late" : "",
    loadMs: loadMs ?? Number.NaN,
    handshakeMs: handshakeMs ?? Number.NaN,
    ttfbMs: ttfbMs ?? Number.NaN,
    bytes,
    clientCpuMs: clientCpuMs ?? Number.NaN,
    busyRatio,
    lateRatio,
    droppedLoss: counted.droppedLoss,
    droppedQueue: counted.droppedQueue,
    packetsUp: counted.up,
    packetsDown: counted.down,
  };
}

/** Why a load that its client takes for a good one is not the load that was wanted. */
function faultOf({ protocol }: CrossLoad, { bytes = 0, documentProtocol = protocol }: ClientLine): string {
  if (bytes !== OBJECT_BYTES) return `${bytes} bytes came instead of ${OBJECT_BYTES}`;
  return documentProtocol === protocol ? "" : `it came over ${documentProtocol} instead of ${protocol}`;
}
