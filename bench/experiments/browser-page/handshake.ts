import type { QlogEvent } from "./qlog.ts";

/** A packet of a QUIC connection, as the server's qlog has it. */
export interface HandshakePacket {
  /** Since the connection's first packet. */
  readonly atMs: number;
  readonly from: "client" | "server";
  readonly type: string;
  readonly number: number | null;
  readonly bytes: number | null;
  /** `CRYPTO, ACK, PADDING`; with streams' numbers. */
  readonly frames: string;
}

const PACKET = /:packet_(sent|received)$/;

/** All packets of a connection, in their order. */
export function packetsOf(events: readonly QlogEvent[]): HandshakePacket[] {
  const packets = events.flatMap(({ name, time, data }) => {
    const direction = PACKET.exec(name)?.[1];
    return direction === undefined ? [] : [{ direction, time, data }];
  });
  const began = packets[0]?.time ?? 0;
  return packets.map(({ direction, time, data: { header, raw, frames = [] } }) => ({
    atMs: time - began,
    from: direction === "sent" ? "server" : "client",
    type: typeText(header?.packet_type ?? "?"),
    number: header?.packet_number ?? null,
    bytes: raw?.length ?? null,
    frames: [
      ...new Set(
        frames.map(({ frame_type: type, stream_id: stream }) =>
          stream === undefined ? type.toUpperCase() : `${type.toUpperCase()} ${stream}`,
        ),
      ),
    ].join(", "),
  }));
}

/** From the first packet to the one that confirms the handshake to the client (RFC 9001, 4.1.2), and some that follow. */
export function handshakeOf(packets: readonly HandshakePacket[], after = 4): HandshakePacket[] {
  const confirmed = packets.findIndex(({ frames }) => frames.includes("HANDSHAKE_DONE"));
  return packets.slice(0, confirmed === -1 ? undefined : confirmed + 1 + after);
}

function typeText(type: string): string {
  return type === "1RTT" || type === "0RTT"
    ? type.replace("RTT", "-RTT")
    : type.charAt(0).toUpperCase() + type.slice(1);
}
