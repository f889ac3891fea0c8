import { expect, it } from "vitest";
import type { PostedSample } from "../../lab/tee.ts";
import { measuredPath } from "./sample-book.ts";

const sample = (given: Partial<PostedSample>): PostedSample => ({
  clientAddress: "10.0.1.1",
  transport: "tcp",
  connectionId: "a",
  atMs: 100,
  closing: true,
  ...given,
});

it("takes the last reading of the connection, within the time asked for and of the transport asked for", () => {
  const samples = [
    sample({ atMs: 50, packetsSent: 1000, packetsLost: 100, bytesSent: 1 }),
    sample({ atMs: 100, rttMs: 9, packetsSent: 10, packetsLost: 1, closing: false }),
    sample({ atMs: 200, rttMs: 12, minRttMs: 5, packetsSent: 30, packetsLost: 2, deliveryRateBps: 7e6 }),
    sample({ atMs: 201, transport: "quic", rttMs: 99, packetsSent: 1, packetsLost: 1 }),
  ];
  expect(measuredPath(samples, "tcp", 100)).toEqual({
    rttMs: 12,
    minRttMs: 5,
    packetsSent: 30,
    packetsLost: 2,
    deliveryRateBps: 7e6,
  });
  expect(measuredPath(samples, "tcp", 0, 100).packetsSent).toBe(1000);
});

it("adds up the counters of several connections; the one that sent most gives RTT and rate", () => {
  const samples = [
    sample({ connectionId: "a", rttMs: 5, packetsSent: 10, packetsLost: 1, bytesSent: 100 }),
    sample({ connectionId: "b", rttMs: 7, packetsSent: 90, packetsLost: 2, bytesSent: 900, deliveryRateBps: 3 }),
  ];
  expect(measuredPath(samples, "tcp", 0)).toMatchObject({
    rttMs: 7,
    packetsSent: 100,
    packetsLost: 3,
    deliveryRateBps: 3,
  });
});

it("says null where nothing was measured", () => {
  expect(Object.values(measuredPath([], "quic", 0))).toEqual([null, null, null, null, null]);
  expect(measuredPath([sample({ rttMs: 4 })], "tcp", 0)).toMatchObject({ packetsSent: null, deliveryRateBps: null });
});
