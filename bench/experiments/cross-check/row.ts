import { float, floatOrNaN, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import type { Client, CrossProtocol } from "./settings.ts";

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

/** What both clients print, one line a load; k6's line has more. */
export interface ClientLine {
  readonly id: string;
  readonly outcome: CrossRow["outcome"];
  readonly error: string;
  readonly startedMs: number;
  readonly loadMs?: number | null;
  readonly handshakeMs?: number | null;
  readonly ttfbMs?: number | null;
  readonly bytes?: number;
  readonly clientCpuMs?: number | null;
  /** k6 alone: a session that could not begin with HTTP/3 goes on over HTTP/2, which is no load of the kind wanted. */
  readonly documentProtocol?: string;
}
