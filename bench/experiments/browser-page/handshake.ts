import { markdownTable } from "../../analysis/tables/table.ts";
import type { QlogEvent } from "./qlog.ts";

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
  const confirmed = packets.findIndex(({ data: { frames = [] } }) =>
    frames.some(({ frame_type: type }) => type === "handshake_done"),
  );
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

export function handshakeTable(packets: readonly HandshakePacket[]): string {
  const right = (title: string) => ({ title, align: "right" }) as const;
  return markdownTable(
    [right("ms"), "from", "packet", right("number"), right("bytes"), "frames"],
    packets.map(({ atMs, from, type, number, bytes, frames }) => [
      atMs.toFixed(1),
      from,
      type,
      String(number ?? "-"),
      String(bytes ?? "-"),
      frames,
    ]),
  );
}
