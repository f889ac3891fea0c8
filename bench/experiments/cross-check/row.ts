import type { Client, CrossProtocol } from "./settings.ts";

/** One load of one client. What is not known is NaN, an empty field in the file. */
export interface CrossRow {
  readonly id: string;
  /** The network's name. */
  readonly setting: string;
  readonly protocol: CrossProtocol;
  readonly client: Client;
  readonly round: number;
  /** Since the epoch. */
  readonly startedMs: number;
  readonly outcome: "ok" | "failed" | "timeout";
  readonly error: string;
  /** Why a load that went well does not count: the machine was slower than the path. */
  readonly dropped: "" | "busy" | "late";
  /** From before the connection's opening to the last byte of the body. */
  readonly loadMs: number;
  /** TCP and TLS, or QUIC. */
  readonly handshakeMs: number;
  readonly ttfbMs: number;
  readonly bytes: number;
  readonly clientCpuMs: number;
  /** Of the busiest core. */
  readonly busyRatio: number;
  /** Share of the packets that left the path over 1 ms late. */
  readonly lateRatio: number;
  readonly droppedLoss: number;
  readonly droppedQueue: number;
  /** From the client to the server, most of them acknowledgements. */
  readonly packetsUp: number;
  readonly packetsDown: number;
}

export const COLUMNS = [
  "id",
  "setting",
  "protocol",
  "client",
  "round",
  "startedMs",
  "outcome",
  "error",
  "dropped",
  "loadMs",
  "handshakeMs",
  "ttfbMs",
  "bytes",
  "clientCpuMs",
  "busyRatio",
  "lateRatio",
  "droppedLoss",
  "droppedQueue",
  "packetsUp",
  "packetsDown",
] as const satisfies readonly (keyof CrossRow)[];

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
