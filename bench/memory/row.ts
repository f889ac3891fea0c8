import type { Columns } from "../run/columns.ts";

/** One crowd: so many clients that download at once, each over a connection of its own. */
export interface MemoryRow {
  readonly id: string;
  readonly protocol: "h2" | "h3";
  readonly clients: number;
  readonly round: number;
  readonly startedMs: number;
  /** Of the crowd, from k6's start to its end. */
  readonly seconds: number;
  /** Of the edge, which is new and has served nobody, before; and the most that was seen while they loaded. */
  readonly edgeBeforeBytes: number;
  readonly edgePeakBytes: number;
  /** Of k6, with the sessions of all clients. */
  readonly clientPeakBytes: number;
  /** What the kernel held for sockets of the protocol's transport, both ends, above what it held before. */
  readonly socketPeakBytes: number;
}

export const MEMORY_COLUMNS: Columns<MemoryRow> = {
  id: "text",
  protocol: "text",
  clients: "number",
  round: "number",
  startedMs: "number",
  seconds: "number",
  edgeBeforeBytes: "number",
  edgePeakBytes: "number",
  clientPeakBytes: "number",
  socketPeakBytes: "number",
};
