import { expect, it } from "vitest";
import { eventsOf, handshakeOf, type QlogEvent, slowStartOf } from "./qlog.ts";

function event(time: number, name: string, type: string, number: number, frames: object[]): string {
  return `\u001E${JSON.stringify({ time, name, data: { header: { packet_type: type, packet_number: number }, raw: { length: 1_200 }, frames } })}\n`;
}

const QLOG = [
  `\u001E${JSON.stringify({ file_schema: "urn:ietf:params:qlog:file:sequential", trace: {} })}\n`.replace(
    "trace",
    "name",
  ),
  `\u001E${JSON.stringify({ time: 1, name: "quic:parameters_set", data: {} })}\n`,
  event(2, "quic:packet_received", "initial", 1, [{ frame_type: "crypto" }, { frame_type: "padding" }]),
  event(3, "quic:packet_sent", "initial", 0, [{ frame_type: "ack" }, { frame_type: "crypto" }]),
  event(3.5, "quic:packet_sent", "handshake", 0, [{ frame_type: "crypto" }, { frame_type: "crypto" }]),
  event(153, "quic:packet_received", "handshake", 0, [{ frame_type: "crypto" }]),
  event(154, "quic:packet_sent", "1RTT", 1, [{ frame_type: "handshake_done" }]),
  event(155, "quic:packet_received", "1RTT", 1, [{ frame_type: "stream", stream_id: 0 }]),
  ...[2, 3, 4, 5, 6].map((number) =>
    event(154 + number, "quic:packet_sent", "1RTT", number, [{ frame_type: "stream", stream_id: 4 }]),
  ),
].join("");

it("reads packets in their order, from the first on, up to some after the one that confirms the handshake", () => {
  const packets = handshakeOf(eventsOf(QLOG));
  expect(packets.map(({ atMs, from, type, frames }) => [atMs, from, type, frames])).toEqual([
    [0, "client", "Initial", "CRYPTO, PADDING"],
    [1, "server", "Initial", "ACK, CRYPTO"],
    [1.5, "server", "Handshake", "CRYPTO"],
    [151, "client", "Handshake", "CRYPTO"],
    [152, "server", "1-RTT", "HANDSHAKE_DONE"],
    [153, "client", "1-RTT", "STREAM 0"],
    [154, "server", "1-RTT", "STREAM 4"],
    [155, "server", "1-RTT", "STREAM 4"],
    [156, "server", "1-RTT", "STREAM 4"],
  ]);
  expect(packets[0]).toMatchObject({ number: 1, bytes: 1_200 });
});

it("passes over what was cut off, and a handshake that was never confirmed is none", () => {
  expect(handshakeOf(eventsOf(`${QLOG}\u001E{"time":1`))).toHaveLength(9);
  expect(handshakeOf(eventsOf(QLOG).slice(0, 5))).toEqual([]);
});

const metrics = (time: number, data: QlogEvent["data"]): QlogEvent => ({
  time,
  name: "recovery:metrics_updated",
  data,
});
const state = (time: number, entered: string): QlogEvent => ({
  time,
  name: "recovery:congestion_state_updated",
  data: { new: entered },
});
const sent = (time: number, length: number, type = "stream"): QlogEvent => ({
  time,
  name: "transport:packet_sent",
  data: { raw: { length }, frames: [{ frame_type: type }] },
});

it("tells at what window and RTT slow start ended the first time, and how long the transfer took", () => {
  const events = [
    state(0, "slow_start"),
    sent(1, 1_250, "crypto"),
    metrics(150, { congestion_window: 41_000, latest_rtt: 151, min_rtt: 150 }),
    state(151, "application_limited"),
    state(300, "slow_start"),
    metrics(310, { congestion_window: 42_500, latest_rtt: 153 }),
    // Of one acknowledgement: what it led to, then what it told.
    state(340, "congestion_avoidance"),
    metrics(340, { latest_rtt: 184 }),
    { time: 350, name: "recovery:packet_lost", data: {} },
    metrics(900, { congestion_window: 80_000, latest_rtt: 149, min_rtt: 149 }),
    state(900, "recovery"),
    sent(5_000, 1_400),
    sent(5_500, 40),
    sent(5_600, 1_450, "ping"),
  ];
  expect(slowStartOf(events)).toEqual({ leftAtBytes: 42_500, rttAboveMs: 34, packetsLost: 1, transferMs: 5_000 });
});

it("says null where slow start lasted", () => {
  const events = [
    state(0, "slow_start"),
    metrics(150, { congestion_window: 41_000, latest_rtt: 151, min_rtt: 150 }),
    state(151, "application_limited"),
  ];
  expect(slowStartOf(events)).toMatchObject({ leftAtBytes: null, rttAboveMs: null, packetsLost: 0 });
});
