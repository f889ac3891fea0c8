import { expect, it } from "vitest";
import { countedBetween, parsePath } from "./path-counters.ts";

const direction = { forwardedPackets: 10, latePackets: 1, droppedLoss: 2, droppedBurst: 3, droppedQueue: 4 };
const line = (aToB: object, bToA: object): string => JSON.stringify({ ok: true, stats: { aToB, bToA } });

it("adds both directions, and takes an earlier reading off", () => {
  const before = parsePath(line(direction, direction));
  expect(before).toEqual({ up: 10, down: 10, late: 2, droppedLoss: 10, droppedQueue: 8 });
  const after = parsePath(
    line({ ...direction, forwardedPackets: 15 }, { ...direction, latePackets: 4, droppedLoss: 3 }),
  );
  expect(countedBetween(before, after)).toEqual({ up: 5, down: 0, late: 3, droppedLoss: 1, droppedQueue: 0 });
});

it("says what came instead of counters", () => {
  expect(() => parsePath('{"ok":false,"error":"no"}')).toThrow('{"ok":false,"error":"no"}');
});
