/** What is read of an event of a server's qlog (infra/edge, `-qlog`). */
export interface QlogEvent {
  /** Milliseconds since the connection's first event. */
  readonly time: number;
  /** `recovery:packet_lost` */
  readonly name: string;
  readonly data: {
    readonly header?: { readonly packet_type?: string; readonly packet_number?: number };
    readonly raw?: { readonly length?: number };
    readonly frames?: readonly { readonly frame_type: string; readonly stream_id?: number }[];
    /** The state of congestion control that is entered. */
    readonly new?: string;
    /** Bytes. */
    readonly congestion_window?: number;
    /** Milliseconds. */
    readonly latest_rtt?: number;
    readonly min_rtt?: number;
  };
}

/** The events of a qlog in JSON text sequences (RFC 7464), in their order, without what an edge that was ended has cut off. */
export function eventsOf(qlog: string): QlogEvent[] {
  return qlog.split("\u001E").flatMap((text) => {
    try {
      const event = JSON.parse(text) as Partial<QlogEvent>;
      return event.name === undefined || event.time === undefined ? [] : [event as QlogEvent];
    } catch {
      return [];
    }
  });
}

/** A packet of a QUIC connection, as the server's qlog has it. */
export type HandshakePacket = ReturnType<typeof handshakeOf>[number];

const TYPES: Readonly<Record<string, string>> = {
  initial: "Initial",
  handshake: "Handshake",
  "0RTT": "0-RTT",
  "1RTT": "1-RTT",
};
/** That many packets follow. */
const AFTER = 4;

/** A connection's packets up to the one that confirms the handshake to the client (RFC 9001, 4.1.2), and some that follow. */
export function handshakeOf(events: readonly QlogEvent[]) {
  const packets = events.filter(({ name }) => /:packet_(sent|received)$/.test(name));
  const confirmed = packets.findIndex(({ data }) => hasFrame(data, "handshake_done"));
  if (confirmed === -1) return [];
  return packets.slice(0, confirmed + 1 + AFTER).map(({ name, time, data: { header, raw, frames = [] } }) => ({
    /** Since the connection's first packet. */
    atMs: time - (packets[0]?.time ?? 0),
    from: name.endsWith("sent") ? "server" : "client",
    /** As RFC 9000, 17.2, has it. */
    type: TYPES[header?.packet_type ?? ""] ?? "?",
    number: header?.packet_number ?? null,
    bytes: raw?.length ?? null,
    /** `CRYPTO, ACK, PADDING`; with streams' numbers. */
    frames: [
      ...new Set(frames.map((frame) => [frame.frame_type.toUpperCase(), frame.stream_id].join(" ").trim())),
    ].join(", "),
  }));
}

function hasFrame({ frames = [] }: QlogEvent["data"], type: string): boolean {
  return frames.some((frame) => frame.frame_type === type);
}

/** How a connection's first growth ended, as its sender saw it. */
export type SlowStart = ReturnType<typeof slowStartOf>;

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
    ({ name, data }) => name.endsWith(":packet_sent") && (data.raw?.length ?? 0) >= FULL && hasFrame(data, "stream"),
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
