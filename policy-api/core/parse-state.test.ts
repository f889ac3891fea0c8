import { describe, expect, it } from "vitest";
import { estimateAt } from "./estimate.ts";
import { applySample, type PathState } from "./estimator.ts";
import { EPOCHS } from "./epochs.ts";
import { NO_LOSS } from "./loss.ts";
import { IGNORED_MAX } from "./offers.ts";
import { parseIgnored, parsePathState } from "./parse-state.ts";
import { HOUR_MS, NOON_MS, sample } from "./testing.ts";

/** A row as it was written before epochs were kept. */
const OLD_ROW = {
  tcp: {
    minRttMs: [[NOON_MS / HOUR_MS, 5]],
    deliveryRateBps: [[NOON_MS / HOUR_MS, 1e6]],
    loss: { packets: 1_000, lost: 10, asOfMs: NOON_MS },
    lastAtMs: NOON_MS,
    baselines: [
      { connectionId: "c1", atMs: NOON_MS, packetsSent: 1_000, packetsLost: 10, bytesSent: 1e6, closed: false },
    ],
  },
};
const EPOCH = { atMs: NOON_MS, packets: 1, lost: 0, bytes: 1 };

describe("parsePathState", () => {
  it("reads rows of before epochs were kept, and what they held counts on", () => {
    const parsed = parsePathState(OLD_ROW);
    expect(parsed).toEqual({
      ok: true,
      value: { tcp: { ...OLD_ROW.tcp, epochs: [], changedAtMs: 0, passedOn: NO_LOSS } },
    });
    const state: PathState = parsed.ok ? parsed.value : {};
    const next = applySample(state, sample({ atMs: NOON_MS + 1, packetsSent: 1_200, packetsLost: 12, rttMs: 6 })).state;
    expect(estimateAt(next, NOON_MS + 1)?.tcp).toMatchObject({ minRttMs: 5, deliveryRateBps: 1e6, lossRatio: 0.01 });
    expect(next.tcp?.epochs).toEqual([{ atMs: NOON_MS, packets: 200, lost: 2, bytes: 0, minRttMs: 6 }]);
  });

  it.each([
    ["nothing", {}, []],
    ["no object", [], [""]],
    ["another transport", { sctp: OLD_ROW.tcp }, ["/sctp"]],
    ["a loss of another kind", { tcp: { ...OLD_ROW.tcp, loss: "much" } }, ["/tcp/loss"]],
    ["a negative count", { quic: { ...OLD_ROW.tcp, epochs: [{ ...EPOCH, lost: -1 }] } }, ["/quic/epochs/0/lost"]],
    [
      "a share that is none",
      { quic: { ...OLD_ROW.tcp, passedOn: { packets: 1 } } },
      ["/quic/passedOn/lost", "/quic/passedOn/asOfMs"],
    ],
    ["a count that is none", { quic: { ...OLD_ROW.tcp, changedAtMs: null } }, ["/quic/changedAtMs"]],
    [
      "more epochs than are kept",
      { tcp: { ...OLD_ROW.tcp, epochs: Array.from({ length: EPOCHS + 1 }, () => EPOCH) } },
      ["/tcp/epochs"],
    ],
  ])("%s", (_name, input, pointers) => {
    const parsed = parsePathState(input);
    expect(parsed.ok ? [] : parsed.faults.map((fault) => fault.pointer)).toEqual(pointers);
  });
});

describe("parseIgnored", () => {
  it.each([
    ["none", [], true],
    ["some", [1, 2], true],
    ["as many as are kept", Array.from({ length: IGNORED_MAX }, (_, i) => i), true],
    ["more", Array.from({ length: IGNORED_MAX + 1 }, (_, i) => i), false],
    ["no list", {}, false],
    ["no numbers", ["1"], false],
    ["null", null, false],
  ])("%s", (_name, input, ok) => {
    expect(parseIgnored(input).ok).toBe(ok);
  });
});
