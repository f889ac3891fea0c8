import { bool, float, optionalFloat, type RowOf, type RowSchema, string } from "./row-schema.ts";
import type { Arm } from "./arm.ts";
import type { Flow } from "./flow.ts";
import type { Congestion } from "./congestion.ts";

/** What the sender counted of one transport's connections. Its RTT is smoothed, and holds the queue that the load made. */
const PATH_FIELDS = ["rttMs", "minRttMs", "packetsSent", "packetsLost", "deliveryRateBps"] as const;
type PathField = (typeof PATH_FIELDS)[number];
export type MeasuredPath = Readonly<Record<PathField, number | null>>;

type PathColumns<Prefix extends string, Value> = {
  readonly [Field in PathField as `${Prefix}${Capitalize<Field>}`]: Value;
};

/** A value for each of these, as rows call them: `tcpRttMs`, `tcpMinRttMs`, ... */
export function pathColumns<Prefix extends string, Value>(
  prefix: Prefix,
  valueOf: (field: PathField) => Value,
): PathColumns<Prefix, Value> {
  const named = PATH_FIELDS.map((field) => [`${prefix}${field[0]?.toUpperCase()}${field.slice(1)}`, valueOf(field)]);
  return Object.fromEntries(named) as PathColumns<Prefix, Value>;
}

/** One load: what was asked, what came out, and what the sender and the path counted. */
export const LOAD_ROW = {
  /** Cell, arm, flow and round: what a run knows its loads by. */
  id: string(),
  cell: string(),
  congestion: string<Congestion>(),
  arm: string<Arm>(),
  flow: string<Flow>(),
  round: float,
  imageBytes: float,
  rateMbps: float,
  delayMs: float,
  lossRatio: float,
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** Why the row does not count: the machine or the path was not what it should be. Empty: it counts. */
  dropped: string<"" | "busy" | "late" | "fault">(),
  /** From the timed session's start to the last byte; of several pages the sum. A timeout's is the timeout. */
  loadMs: optionalFloat,
  /** Of each page, joined by semicolons. */
  pagesMs: string(),
  handshakeMs: optionalFloat,
  switchHandshakeMs: optionalFloat,
  ttfbMs: optionalFloat,
  documentProtocol: string(),
  lastProtocol: string(),
  switched: bool,
  edgeCpuMs: optionalFloat,
  clientCpuMs: optionalFloat,
  /** Of the busiest core while it ran. */
  busyRatio: optionalFloat,
  /** Packets that left the emulated path over 1 ms later than due, of all. */
  lateRatio: optionalFloat,
  droppedLoss: optionalFloat,
  droppedQueue: optionalFloat,
  ...pathColumns("tcp", () => optionalFloat),
  ...pathColumns("quic", () => optionalFloat),
  /** What the session before had taught the server: its transport, and the same figures. */
  trainedOn: string(),
  ...pathColumns("trained", () => optionalFloat),
} as const satisfies RowSchema;

export type LoadRow = RowOf<typeof LOAD_ROW>;

/** Whether a load tells about the path and not about the machine's other work. */
export function counts(row: LoadRow): boolean {
  return row.dropped === "" && row.outcome !== "failed" && row.loadMs !== null;
}
