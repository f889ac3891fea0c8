import type { Columns } from "../../model/columns.ts";

/** One crowd: so many clients that download at once, each over a connection of its own. Peaks are the most of all looks. */
export interface MemoryRow {
  readonly id: string;
  readonly protocol: "h2" | "h3";
  readonly clients: number;
  readonly round: number;
  readonly startedMs: number;
  /** Of the crowd, from k6's start to its end. */
  readonly seconds: number;
  readonly looks: number;
  /** Of the edge, which is new and has served nobody, before; and its peak. */
  readonly edgeBeforeBytes: number;
  readonly edgePeakBytes: number;
  /** What the kernel held for the server's sockets. */
  readonly socketPeakBytes: number;
  /** Both at the same look. */
  readonly serverPeakBytes: number;
  /** Of k6, with the sessions of all clients and a JavaScript runtime for each. */
  readonly clientPeakBytes: number;
}

export const MEMORY_COLUMNS: Columns<MemoryRow> = {
  id: "text",
  protocol: "text",
  clients: "number",
  round: "number",
  startedMs: "number",
  seconds: "number",
  looks: "number",
  edgeBeforeBytes: "number",
  edgePeakBytes: "number",
  socketPeakBytes: "number",
  serverPeakBytes: "number",
  clientPeakBytes: "number",
};
