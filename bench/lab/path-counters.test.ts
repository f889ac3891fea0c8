import { expect, it } from "vitest";
import { countedBetween, countersOf, faultsOf } from "./path.ts";

const drops = { droppedLoss: 2, droppedQueue: 4, droppedDevice: 0, droppedMemory: 0, droppedWrite: 0 };
const direction = { forwardedPackets: 10, latePackets: 1, ...drops };

it("adds both directions, and takes an earlier reading off", () => {
  const before = countersOf({ aToB: direction, bToA: direction });
  expect(before).toEqual({ up: 10, down: 10, late: 2, droppedLoss: 4, droppedQueue: 8 });
  const after = countersOf({
    aToB: { ...direction, forwardedPackets: 15 },
    bToA: { ...direction, latePackets: 4, droppedLoss: 3 },
  });
  expect(countedBetween(before, after)).toEqual({ up: 5, down: 0, late: 3, droppedLoss: 1, droppedQueue: 0 });
});

it("adds up the emulator's own faults by direction", () => {
  const faulty = { ...direction, droppedDevice: 1, droppedMemory: 2, droppedWrite: 4 };
  expect(faultsOf({ aToB: faulty, bToA: direction })).toEqual({ aToB: 7, bToA: 0 });
});
