import { describe, expect, it } from "vitest";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { LoadResult } from "../../model/plan.ts";
import type { PostedSample } from "../../lab/tee.ts";
import { rowOf, whyDropped } from "./batch.ts";

const RESULT: LoadResult = {
  id: "x/adaptive/trained/0",
  clientAddress: "10.0.1.1",
  startedMs: 1000,
  endedMs: 1200,
  outcome: "ok",
  error: "",
  loadMs: 200,
  filesH3: [],
  pageMs: [200],
  handshakeMs: 5,
  switchHandshakeMs: null,
  ttfbMs: 9,
  documentProtocol: "h2",
  lastProtocol: "h2",
  switched: false,
  altSvc: "",
  altSvcBroken: false,
  bytes: 1000,
  connections: [],
  edgeCpuMs: 10,
  clientCpuMs: 20,
  busyRatio: 0.5,
  lateRatio: 0.001,
  droppedLoss: 0,
  droppedQueue: 0,
  droppedFault: 0,
};

describe("whyDropped", () => {
  it.each<[string, Partial<LoadResult>, string]>([
    ["nothing was wrong", {}, ""],
    ["a core was busy", { busyRatio: 0.86 }, "busy"],
    ["a core was as busy as it may be", { busyRatio: 0.85 }, ""],
    // Ticks of 10 ms over 250 ms show little of a load of 30 ms.
    ["the edge worked all the load's time", { loadMs: 30, edgeCpuMs: 26 }, "busy"],
    ["the client worked all the load's time", { loadMs: 30, clientCpuMs: 29 }, "busy"],
    ["over 1 % of the packets were late", { lateRatio: 0.011 }, "late"],
    ["the emulator lost packets", { droppedFault: 1, busyRatio: 1 }, "fault"],
    ["nothing is known", { busyRatio: null, lateRatio: null, edgeCpuMs: null, clientCpuMs: null }, ""],
  ])("%s", (_, given, dropped) => {
    expect(whyDropped({ ...RESULT, ...given })).toBe(dropped);
  });
});

const CELL: Cell = {
  id: "x",
  network: { name: "x", rateMbps: 100, delayMs: 5, lossRatio: 0, queueBytes: 1 },
  congestion: "bbr",
  imageBytes: 1000,
};
const EXPERIMENT = { timeoutMs: 60_000 } as LoadExperiment;
const LOAD = { id: RESULT.id, arm: "adaptive", flow: "trained", round: 0, turn: 0 } as const;

it("tells what was learnt before the timed session from what was measured in it", () => {
  const sample = (given: Partial<PostedSample>): PostedSample => ({
    clientAddress: "10.0.1.1",
    transport: "quic",
    connectionId: "a",
    atMs: 900,
    closing: true,
    ...given,
  });
  const samples = [
    sample({ rttMs: 11, packetsSent: 100, packetsLost: 3 }),
    sample({ connectionId: "b", atMs: 1200, transport: "tcp", rttMs: 12, packetsSent: 50 }),
  ];
  expect(rowOf(EXPERIMENT, CELL, LOAD, RESULT, samples)).toMatchObject({
    trainedOn: "quic",
    trainedRttMs: 11,
    trainedPacketsLost: 3,
    tcpRttMs: 12,
    tcpPacketsSent: 50,
    quicRttMs: null,
  });
});

it("counts a timeout as the timeout: it took at least that long", () => {
  const row = rowOf(EXPERIMENT, CELL, LOAD, { ...RESULT, outcome: "timeout", loadMs: null }, []);
  expect(row).toMatchObject({ outcome: "timeout", loadMs: 60_000 });
});

it("keeps a failed load, with why, and without a time", () => {
  const failed = { ...RESULT, outcome: "failed", loadMs: null, error: "refused" } as const;
  expect(rowOf(EXPERIMENT, CELL, LOAD, failed, [])).toMatchObject({
    outcome: "failed",
    loadMs: null,
    error: "refused",
  });
});

it("times the last page where those before only prepare it", () => {
  const twice = { ...RESULT, loadMs: 500, pageMs: [300, 200] };
  expect(rowOf(EXPERIMENT, CELL, { ...LOAD, flow: "reused" }, twice, []).loadMs).toBe(200);
  expect(rowOf(EXPERIMENT, CELL, { ...LOAD, flow: "cold" }, twice, []).loadMs).toBe(500);
});
