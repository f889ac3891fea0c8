import { float, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";

/** One crowd: so many clients that download at once, each over a connection of its own. Peaks are the most of all looks. */
export const MEMORY_ROW = {
  id: string(),
  protocol: string<"h2" | "h3">(),
  clients: float,
  round: float,
  startedMs: float,
  /** Of the crowd, from k6's start to its end. */
  seconds: float,
  looks: float,
  /** Of the edge, which is new and has served nobody, before; and its peak. */
  edgeBeforeBytes: float,
  edgePeakBytes: float,
  /** What the kernel held for the server's sockets. */
  socketPeakBytes: float,
  /** Both at the same look. */
  serverPeakBytes: float,
  /** Of k6, with the sessions of all clients and a JavaScript runtime for each. */
  clientPeakBytes: float,
} as const satisfies RowSchema;

export type MemoryRow = RowOf<typeof MEMORY_ROW>;
