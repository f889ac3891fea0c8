import { expect, it } from "vitest";
import { CONNECTIONS } from "../../../policy-api/core/connections.ts";
import { sampleAt, sizeOf, stateAfter } from "./samples.ts";

it("10,000 samples fill all that a client's state has room for, and as many again add nothing to it", () => {
  const state = stateAfter(10_000);
  const { connections, bytes } = sizeOf(state);
  expect(connections).toBe(CONNECTIONS);
  // Names and counters have a digit more or less.
  expect(Math.abs(sizeOf(stateAfter(20_000)).bytes - bytes)).toBeLessThan(100);
});

it("what a client's state says is what its samples said", () => {
  const { connections, given } = stateAfter(10_000);
  for (const { packetsSent, packetsLost } of connections) expect(packetsLost / packetsSent).toBeCloseTo(0.01, 3);
  // Between the nodes of 0.5 and 2 %.
  expect((given.clients[3] ?? 0) + (given.clients[4] ?? 0)).toBeGreaterThan(0.95);
});

it("counters of one connection go up until it closes", () => {
  const own = Array.from({ length: 40 }, (_, turn) => sampleAt(turn * CONNECTIONS + 3));
  expect(new Set(own.map(({ connectionId }) => connectionId)).size).toBe(1);
  expect(own.map(({ packetsSent }) => packetsSent)).toEqual(own.map((_, i) => 700 * (i + 1)));
  expect(own.map(({ packetsLost }) => packetsLost).slice(0, 4)).toEqual([7, 14, 21, 28]);
  expect(own.map(({ busyMs }) => busyMs).slice(0, 3)).toEqual([500, 1_000, 1_500]);
  expect(own.map(({ closing }) => closing).lastIndexOf(false)).toBe(38);
  expect(sampleAt(40 * CONNECTIONS + 3).connectionId).not.toBe(own[0]?.connectionId);
});
