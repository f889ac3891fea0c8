import { expect, it } from "vitest";
import type { QlogEvent } from "./qlog.ts";
import { slowStartOf } from "./slow-start.ts";

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
