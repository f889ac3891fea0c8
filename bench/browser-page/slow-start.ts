import type { QlogEvent } from "./qlog.ts";

/** How a connection's first growth ended, as its sender saw it. */
export interface SlowStart {
  /** The congestion window when slow start ended, bytes; null where it lasted as long as the connection. */
  readonly leftAtBytes: number | null;
  /** The RTT sample by which it ended, less the smallest before, milliseconds. */
  readonly rttAboveMs: number | null;
  readonly packetsLost: number;
  /** From the first packet to the last full one, milliseconds. */
  readonly transferMs: number;
}

/** A window at which slow start ends too early on a path that holds nearly ten times as much. */
export const EARLY_BYTES = 100_000;

export function isEarly({ leftAtBytes }: SlowStart): boolean {
  return leftAtBytes !== null && leftAtBytes < EARLY_BYTES;
}

/** Bytes of a packet that carries as much as fits. */
const FULL = 1_000;

/** Reads a connection's slow start. Leaving and entering it for want of data (`application_limited`) is no end of it. */
export function slowStartOf(events: readonly QlogEvent[]): SlowStart {
  let windowBytes = 0;
  let rttMs = 0;
  let minRttMs = 0;
  let end: Pick<SlowStart, "leftAtBytes" | "rttAboveMs"> = { leftAtBytes: null, rttAboveMs: null };
  let packetsLost = 0;
  let [firstMs, lastMs] = [Number.NaN, Number.NaN];
  for (const { name, time, data } of events) {
    if (name.endsWith(":metrics_updated")) {
      windowBytes = data.congestion_window ?? windowBytes;
      rttMs = data.latest_rtt ?? rttMs;
      minRttMs = data.min_rtt ?? minRttMs;
    } else if (name.endsWith(":congestion_state_updated")) {
      const isEnd = data.new !== "slow_start" && data.new !== "application_limited";
      if (isEnd && end.leftAtBytes === null) end = { leftAtBytes: windowBytes, rttAboveMs: rttMs - minRttMs };
    } else if (name.endsWith(":packet_lost")) packetsLost++;
    else if (name.endsWith(":packet_sent") && (data.raw?.length ?? 0) >= FULL) {
      if (Number.isNaN(firstMs)) firstMs = time;
      lastMs = time;
    }
  }
  return { ...end, packetsLost, transferMs: lastMs - firstMs };
}
