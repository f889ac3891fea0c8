import type { QlogEvent } from "./qlog.ts";

/** How a connection's first growth ended, as its sender saw it. */
export interface SlowStart {
  /** The congestion window when slow start ended, bytes; null where it lasted as long as the connection. */
  readonly leftAtBytes: number | null;
  /** The RTT sample of the acknowledgement that ended it, less the connection's smallest RTT, milliseconds. */
  readonly rttAboveMs: number | null;
  readonly packetsLost: number;
  /** From the connection's first event to the last full packet of a response, milliseconds. */
  readonly transferMs: number;
}

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
export function slowStartOf(events: readonly QlogEvent[]): SlowStart {
  const end = events.findIndex(
    ({ name, data }) =>
      name.endsWith(":congestion_state_updated") && data.new !== "slow_start" && data.new !== "application_limited",
  );
  const isFull = ({ name, data }: QlogEvent): boolean =>
    name.endsWith(":packet_sent") &&
    (data.raw?.length ?? 0) >= FULL &&
    (data.frames ?? []).some(({ frame_type: type }) => type === "stream");
  return {
    leftAtBytes: end === -1 ? null : (lastOf(events.slice(0, end), "congestion_window") ?? null),
    rttAboveMs: end === -1 ? null : rttAboveAt(events, end),
    packetsLost: events.filter(({ name }) => name.endsWith(":packet_lost")).length,
    transferMs: events.findLast(isFull)?.time ?? 0,
  };
}

function rttAboveAt(events: readonly QlogEvent[], end: number): number | null {
  const told = events.findIndex(({ data }, i) => i > end && data.latest_rtt !== undefined);
  const rttMs = events[told]?.data.latest_rtt;
  const minRttMs = lastOf(events.slice(0, told + 1), "min_rtt");
  return rttMs === undefined || minRttMs === undefined ? null : rttMs - minRttMs;
}

/** A qlog tells a figure when it changes: the last one told is the one that is. */
function lastOf(events: readonly QlogEvent[], field: "congestion_window" | "min_rtt"): number | undefined {
  return events.findLast(({ data }) => data[field] !== undefined)?.data[field];
}
