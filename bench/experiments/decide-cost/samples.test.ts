import { expect, it } from "vitest";
import { BASELINES } from "../../../policy-api/core/estimator.ts";
import { EPOCHS } from "../../../policy-api/core/epochs.ts";
import { BUCKETS } from "../../../policy-api/core/windowed.ts";
import { sampleAt, sizeOf, stateAfter } from "./samples.ts";

it("10,000 samples fill all that a client's state has room for, and no change is seen in them", () => {
  const state = stateAfter(10_000);
  expect(sizeOf(state)).toMatchObject({ epochs: EPOCHS, buckets: BUCKETS, baselines: BASELINES });
  expect(state.tcp?.changedAtMs).toBe(0);
  expect((state.tcp?.loss.lost ?? 0) / (state.tcp?.loss.packets ?? 0)).toBeCloseTo(0.01, 3);
});

it("counters of one connection go up until it closes", () => {
  const own = Array.from({ length: 40 }, (_, turn) => sampleAt(turn * BASELINES + 3));
  expect(new Set(own.map(({ connectionId }) => connectionId)).size).toBe(1);
  expect(own.map(({ packetsSent }) => packetsSent)).toEqual(own.map((_, i) => 700 * (i + 1)));
  expect(own.map(({ packetsLost }) => packetsLost).slice(0, 4)).toEqual([11, 14, 25, 28]);
  expect(own.map(({ closing }) => closing).lastIndexOf(false)).toBe(38);
  expect(sampleAt(40 * BASELINES + 3).connectionId).not.toBe(own[0]?.connectionId);
});
