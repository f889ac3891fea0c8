import { expect, it } from "vitest";
import { countedBetween, countersOf, faultsOf } from "./path.ts";

const drops = { droppedDevice: 0, droppedMemory: 0, droppedWrite: 0 };
const direction = { forwardedPackets: 10, latePackets: 1, ...drops };

it("adds both directions, and takes an earlier reading off", () => {
  const before = countersOf({ aToB: direction, bToA: direction });
  expect(before).toEqual({ forwarded: 20, late: 2 });
  const after = countersOf({
    aToB: { ...direction, forwardedPackets: 15 },
    bToA: { ...direction, latePackets: 4 },
  });
  expect(countedBetween(before, after)).toEqual({ forwarded: 5, late: 3 });
});

it("adds up the emulator's own faults by direction", () => {
  const faulty = { ...direction, droppedDevice: 1, droppedMemory: 2, droppedWrite: 4 };
  expect(faultsOf({ aToB: faulty, bToA: direction })).toEqual({ aToB: 7, bToA: 0 });
});
