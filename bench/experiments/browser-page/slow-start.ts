import { median } from "../../analysis/statistics/summary.ts";
import { number, size } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { QlogEvent } from "./qlog.ts";

/** How a connection's first growth ended, as its sender saw it. */
export type SlowStart = ReturnType<typeof slowStartOf>;

/** A window at which slow start ends too early: a quarter of what the path of the recorded connections holds (937 kB). */
export const EARLY_BYTES = 234_000;

export function isEarly({ leftAtBytes }: SlowStart): boolean {
  return leftAtBytes !== null && leftAtBytes < EARLY_BYTES;
}

/** Bytes of a packet that carries as much as fits. */
const FULL = 1_000;

/**
 * Reads a connection's slow start. Leaving and entering it for want of data (`application_limited`) is no end of it. quic-go
 * tells of the state first, and of the RTT by which it changed after that.
 */
export function slowStartOf(events: readonly QlogEvent[]) {
  const end = events.findIndex(
    ({ name, data }) =>
      name.endsWith(":congestion_state_updated") && data.new !== "slow_start" && data.new !== "application_limited",
  );
  const told = end === -1 ? -1 : events.findIndex(({ data }, i) => i > end && data.latest_rtt !== undefined);
  // A qlog tells a figure when it changes: the last one told is the one that is.
  const lastBefore = (index: number, field: "congestion_window" | "min_rtt"): number | undefined =>
    events.slice(0, Math.max(0, index)).findLast(({ data }) => data[field] !== undefined)?.data[field];
  const minRttMs = lastBefore(told + 1, "min_rtt");
  const fullPacket = events.findLast(
    ({ name, data: { raw, frames = [] } }) =>
      name.endsWith(":packet_sent") &&
      (raw?.length ?? 0) >= FULL &&
      frames.some(({ frame_type: type }) => type === "stream"),
  );
  return {
    /** The congestion window when slow start ended, bytes; null where it lasted as long as the connection. */
    leftAtBytes: lastBefore(end, "congestion_window") ?? null,
    /** The RTT sample of the acknowledgement that ended it, less the connection's smallest RTT, milliseconds. */
    rttAboveMs: minRttMs === undefined ? null : (events[told]?.data.latest_rtt ?? Number.NaN) - minRttMs,
    packetsLost: events.filter(({ name }) => name.endsWith(":packet_lost")).length,
    /** From the connection's first event to the last full packet of a response, milliseconds. */
    transferMs: fullPacket?.time ?? 0,
  };
}

/** Of connections, by how many browsers loaded pages at the same time, on cores that they share. */
export interface SlowStarts {
  readonly browsers: number;
  readonly connections: readonly SlowStart[];
}

export function slowStartsTable(slowStarts: readonly SlowStarts[]): string {
  const medianOf = (connections: readonly SlowStart[], field: "rttAboveMs" | "transferMs"): string =>
    number(median(connections.flatMap((one) => one[field] ?? [])));
  const late = ({ connections }: SlowStarts): SlowStart[] => connections.filter((one) => !isEarly(one));
  const early = ({ connections }: SlowStarts): SlowStart[] => connections.filter(isEarly);
  return tableOf(slowStarts, [
    ["browsers at a time", ({ browsers }) => String(browsers)],
    ["connections", ({ connections }) => String(connections.length)],
    [`slow start ended below ${size(EARLY_BYTES)}`, (row) => String(early(row).length)],
    ["RTT above the smallest then, ms", (row) => medianOf(early(row), "rttAboveMs")],
    ["their transfer, ms", (row) => medianOf(early(row), "transferMs")],
    ["the others' transfer, ms", (row) => medianOf(late(row), "transferMs")],
    ["packets lost, of all", ({ connections }) => String(connections.reduce((sum, one) => sum + one.packetsLost, 0))],
  ]);
}
