import { fieldsOf, float, readRecord, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { csvFormatRow, csvParse } from "d3-dsv";
import { UserError } from "../../../base/user-error.ts";
import type { PostedSample } from "../../lab/tee.ts";
import type { LoadRow } from "../../model/load-row.ts";

const FILE = "windows.csv";

/** What the sender of one connection was at, at one moment of a load. */
const WINDOW_POINT = {
  /** The load, and when it began: an attempt that was cut short has points and no row. */
  id: string(),
  startedMs: float,
  /** The how manieth connection of the load, from 1. */
  connection: float,
  /** Since the load's start. */
  atMs: float,
  windowBytes: float,
  /** Smoothed. */
  rttMs: float,
  /** Since the connection's start, retransmissions included. */
  bytesSent: float,
} as const satisfies RowSchema;

export type WindowPoint = RowOf<typeof WINDOW_POINT>;

/** One line of an edge's trace; infra/edge/internal/trace writes it. */
interface TraceLine {
  readonly connectionId: string;
  readonly atMs: number;
  readonly rttMs: number;
  readonly congestionWindowBytes: number;
  readonly bytesSent: number;
}

/** The points of a load, out of its edge's trace: of the connections that the load's samples are of. */
export function windowsOf(
  { id, startedMs }: Pick<LoadRow, "id" | "startedMs">,
  samples: readonly PostedSample[],
  trace: string,
): WindowPoint[] {
  const own = new Set(samples.map(({ connectionId }) => connectionId));
  // The edge may be at its last line just now.
  const lines = trace
    .slice(0, trace.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as TraceLine)
    .filter(({ connectionId, atMs }) => own.has(connectionId) && atMs >= startedMs);
  const connections = [...new Set(lines.map(({ connectionId }) => connectionId))];
  return lines.map(({ connectionId, atMs, congestionWindowBytes, rttMs, bytesSent }) => ({
    id,
    startedMs,
    connection: connections.indexOf(connectionId) + 1,
    atMs: Math.round(atMs - startedMs),
    windowBytes: congestionWindowBytes,
    rttMs,
    bytesSent,
  }));
}

/** @throws UserError where the disk does not take them */
export function appendWindows(folder: string, points: readonly WindowPoint[]): void {
  const file = join(folder, FILE);
  const lines = points.map((point) => csvFormatRow(fieldsOf(point, WINDOW_POINT)));
  const before = existsSync(file) ? readFileSync(file, "utf8") : `${csvFormatRow(Object.keys(WINDOW_POINT))}\n`;
  // Half a line of a killed run must not become half of the next one.
  const text = [...(before.endsWith("\n") ? [] : [""]), ...lines, ""].join("\n");
  try {
    appendFileSync(file, existsSync(file) ? text : before + text);
  } catch (error) {
    throw new UserError(`${file} cannot be written: ${(error as Error).message}.`);
  }
}

/** The points of loads that have a row; what a killed run left of others, or of a line, is passed over. */
export function readWindows(folder: string, rows: readonly LoadRow[]): WindowPoint[] {
  const file = join(folder, FILE);
  if (!existsSync(file)) return [];
  const started = new Map(rows.map(({ id, startedMs }) => [id, fieldsOf({ startedMs }, { startedMs: float })[0]]));
  return csvParse(readFileSync(file, "utf8"))
    .filter(({ id, startedMs }) => started.get(id ?? "") === startedMs)
    .flatMap((record) => readRecord(record, WINDOW_POINT) ?? []);
}
