import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../../../policy-api/core/policy.ts";
import type { Observation, RecordedCell, Visits } from "./cells.ts";
import { offeredAfterVisit, offeredCold, visitMs } from "./play.ts";

const seen = (minRttMs: number): Observation => ({
  minRttMs,
  packetsSent: 700,
  packetsLost: 7,
  bytesSent: 1e6,
  deliveryRateBps: 1e6,
});
const visits: Visits = { stay: [], switch: [], handshakeMs: 10, contentBytes: 1e6 };
const pages = { stay: [100, 60, 60], switched: [120, 40, 40] };
const cell: RecordedCell = {
  id: "x-cubic",
  network: "x",
  congestion: "cubic",
  contentBytes: 1e6,
  stay: [],
  switch: [],
  observed: { tcp: [seen(50), seen(150)], quic: [seen(50), seen(150)] },
  visits,
};
const fixed = (mode: Policy["mode"]): Policy => ({ ...INITIAL_POLICY, mode });
const by = (method: Policy["method"], advertise: "h3" | "nothing" = "nothing"): Policy => ({
  ...INITIAL_POLICY,
  mode: "adaptive",
  method,
  coldStart: { advertise },
});

describe("what a policy offers on recorded observations", () => {
  it.each([
    ["never", fixed("fixed-h2"), 0, 0],
    ["always", fixed("fixed-h3"), 1, 1],
    ["half of the clients", by({ kind: "share", share: 0.5 }), 0.5, 0.5],
    ["from an RTT on", by({ kind: "rtt-threshold", rttMs: 100 }), 0.5, 0.5],
    [
      "by a line, unknown clients as its cold start says",
      by({ kind: "zero-lines", lines: [{ deliveryRateBps: 1e6, rttMs: [0], lossRatio: [0.5] }] }, "h3"),
      0,
      1,
    ],
  ])("%s", (_name, policy, afterVisit, cold) => {
    expect(offeredAfterVisit(policy, cell)).toBe(afterVisit);
    expect(offeredCold(policy, cell)).toBe(cold);
  });
});

it("knows nothing of a client after a visit of few packets, as the edge does not: the cold start speaks", () => {
  const small = { ...cell, observed: { tcp: [{ ...seen(50), packetsSent: 99 }], quic: [] } };
  const line: Policy["method"] = {
    kind: "zero-lines",
    lines: [{ deliveryRateBps: 1e6, rttMs: [0], lossRatio: [0] }],
  };
  expect(offeredAfterVisit(by(line), small)).toBe(0);
  expect(offeredAfterVisit(by(line, "h3"), small)).toBe(1);
});

it("counts visits over either protocol for half, however many of each were recorded", () => {
  const more = { ...cell, observed: { tcp: [seen(150), seen(150), seen(150)], quic: [seen(50)] } };
  expect(offeredAfterVisit(by({ kind: "rtt-threshold", rttMs: 100 }), more)).toBe(0.5);
});

describe("a first visit of three pages", () => {
  const line = (loss: number, advertise: "h3" | "nothing"): Policy =>
    by({ kind: "zero-lines", lines: [{ deliveryRateBps: 1e6, rttMs: [0], lossRatio: [loss] }] }, advertise);
  it.each([
    ["stays", fixed("fixed-h2"), 100 + 60 + 60],
    ["switches on the first page", fixed("fixed-h3"), 120 + 40 + 40],
    ["switches on the second, its TCP handshake paid before", line(0, "nothing"), 100 + (120 - 10) + 40],
    ["is taken back on the second, over a connection that begins slowly", line(0.5, "h3"), 120 + (100 - 10) + 60],
  ])("%s", (_name, policy, expected) => {
    expect(visitMs(policy, cell, visits, pages)).toBe(expected);
  });
});
