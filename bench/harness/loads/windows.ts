import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PostedSample } from "../../lab/tee.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { float, type RowOf, type RowSchema, string, writtenNumber } from "../../model/row-schema.ts";

export const WINDOWS_FILE = "windows.csv";

/** What the sender of one connection was at, at one moment of a load. */
export const WINDOW_POINT = {
  /** The load, and when it began: an attempt that was cut short has points and no row. */
  id: string(),
  startedMs: float,
  /** The how manieth connection of the load, from 1. */
  connection: float,
  /** Since the load's start. */
  atMs: float,
  windowBytes: float,
} as const satisfies RowSchema;

export type WindowPoint = RowOf<typeof WINDOW_POINT>;

/** One line of an edge's trace; infra/edge/internal/trace writes it. */
interface TraceLine {
  readonly connectionId: string;
  readonly atMs: number;
  readonly congestionWindowBytes: number;
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
  return lines.map(({ connectionId, atMs, congestionWindowBytes }) => ({
    id,
    startedMs,
    connection: connections.indexOf(connectionId) + 1,
    atMs: Math.round(atMs - startedMs),
    windowBytes: congestionWindowBytes,
  }));
}

/** The points of loads that have a row: a killed run may have left some of another. */
export function readWindows(folder: string, rows: readonly LoadRow[]): WindowPoint[] {
  if (!existsSync(join(folder, WINDOWS_FILE))) return [];
  const began = new Map(rows.map(({ id, startedMs }) => [id, writtenNumber(startedMs)]));
  return rowsIn(folder, WINDOW_POINT, WINDOWS_FILE).filter(({ id, startedMs }) => began.get(id) === startedMs);
}
