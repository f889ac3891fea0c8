import { number, type RowOf, type RowSchema, text } from "../../model/row-schema.ts";

/** One crowd: so many clients that download at once, each over a connection of its own. Peaks are the most of all looks. */
export const MEMORY_ROW = {
  id: text(),
  protocol: text<"h2" | "h3">(),
  clients: number,
  round: number,
  startedMs: number,
  /** Of the crowd, from k6's start to its end. */
  seconds: number,
  looks: number,
  /** Of the edge, which is new and has served nobody, before; and its peak. */
  edgeBeforeBytes: number,
  edgePeakBytes: number,
  /** What the kernel held for the server's sockets. */
  socketPeakBytes: number,
  /** Both at the same look. */
  serverPeakBytes: number,
  /** Of k6, with the sessions of all clients and a JavaScript runtime for each. */
  clientPeakBytes: number,
} as const satisfies RowSchema;

export type MemoryRow = RowOf<typeof MEMORY_ROW>;
