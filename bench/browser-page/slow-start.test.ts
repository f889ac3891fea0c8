import { expect, it } from "vitest";
import type { QlogEvent } from "./qlog.ts";
import { slowStartOf } from "./slow-start.ts";

const window = (time: number, bytes: number, rttMs = 150): QlogEvent => ({
  time,
  name: "recovery:metrics_updated",
  data: { congestion_window: bytes, latest_rtt: rttMs, min_rtt: 150 },
});
const state = (time: number, entered: string): QlogEvent => ({
  time,
  name: "recovery:congestion_state_updated",
  data: { new: entered },
});
const sent = (time: number, length: number): QlogEvent => ({
  time,
  name: "transport:packet_sent",
  data: { raw: { length } },
});

it("tells at what window and RTT slow start ended the first time, and how long the transfer took", () => {
  const events = [
    state(0, "slow_start"),
    sent(1, 1_250),
    window(150, 41_000),
    state(151, "application_limited"),
    state(300, "slow_start"),
    window(340, 42_500, 184),
    state(340, "congestion_avoidance"),
    { time: 350, name: "recovery:packet_lost", data: {} },
    window(900, 80_000, 151),
    state(900, "recovery"),
    sent(5_000, 1_400),
    sent(5_500, 40),
  ];
  expect(slowStartOf(events)).toEqual({ leftAtBytes: 42_500, rttAboveMs: 34, packetsLost: 1, transferMs: 4_999 });
});

it("says null where slow start lasted", () => {
  const events = [state(0, "slow_start"), sent(1, 1_250), window(150, 41_000), state(151, "application_limited")];
  expect(slowStartOf(events)).toMatchObject({ leftAtBytes: null, rttAboveMs: null, packetsLost: 0 });
});
