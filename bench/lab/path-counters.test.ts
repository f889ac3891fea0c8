import { expect, it } from "vitest";
import { faultsOf, lateBetween } from "./path.ts";

const direction = {
  forwardedPackets: 10,
  latePackets: 1,
  droppedQueue: 8,
  waitingBytes: 16,
  droppedDevice: 1,
  droppedMemory: 2,
  droppedWrite: 4,
};
const before = { aToB: direction, bToA: direction };

it("adds both directions, and takes an earlier reading off", () => {
  const after = { aToB: { ...direction, forwardedPackets: 15 }, bToA: { ...direction, latePackets: 4 } };
  expect(lateBetween(before, after)).toBe(3 / 5);
  expect(lateBetween(before, before)).toBeNaN();
});

it("adds up the emulator's own faults", () => {
  expect(faultsOf(direction)).toBe(7);
});
