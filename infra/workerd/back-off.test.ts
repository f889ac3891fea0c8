import { expect, it } from "vitest";
import { BackOff } from "./back-off.ts";

it("a program starts again at once, then after pauses that grow to a second", () => {
  const backOff = new BackOff();
  backOff.started(0);
  const pauses = Array.from({ length: 6 }, (_, i) => backOff.pauseMs(i));
  expect(pauses).toEqual([0, 250, 500, 1_000, 1_000, 1_000]);
});

it("after a minute without failure the pauses begin again at 0", () => {
  const backOff = new BackOff();
  backOff.started(0);
  expect([backOff.pauseMs(1), backOff.pauseMs(2)]).toEqual([0, 250]);
  backOff.started(10);
  expect(backOff.pauseMs(60_009)).toBe(500);
  backOff.started(100_000);
  expect(backOff.pauseMs(160_000)).toBe(0);
});
