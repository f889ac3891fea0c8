import { expect, it } from "vitest";
import { ceilingLoss } from "./ceiling.ts";

const MBIT = 1e6 / 8;
const NOTHING = { reachedBps: 0, leastBps: 0 };
const loss = (rttMs: number, contentBytes: number, rate: Partial<typeof NOTHING> = {}) =>
  ceilingLoss(200 * MBIT, { rttMs, contentBytes }, { ...NOTHING, ...rate });

it("is nothing on a line that HTTP/3 fills", () => {
  expect(loss(30, 1e9, { reachedBps: 200 * MBIT })).toBe(0);
});

it("is the ratio of the rates for a large file nearby", () => {
  expect(loss(1, 1e9, { reachedBps: 500 * MBIT })).toBeCloseTo(Math.log(0.4), 2);
});

it("is as in the example: 21.7 MB at 4 ms over 500 Mbit/s take 0.363 s, and 0.884 s at 200 Mbit/s", () => {
  expect(loss(4, 21.7e6, { reachedBps: 500 * MBIT })).toBeCloseTo(Math.log(0.3632 / 0.884), 3);
});

it("is no more than was measured: a loopback's rate is no line's", () => {
  expect(loss(0.1, 1e6, { reachedBps: 40_000 * MBIT })).toBeCloseTo(loss(0.1, 1e6, { reachedBps: 700 * MBIT }), 12);
  expect(loss(0.1, 1e9, { reachedBps: 40_000 * MBIT })).toBeCloseTo(-Math.log(3.5), 2);
});

it("is little where round trips are most of a page", () => {
  expect(loss(150, 1e5, { reachedBps: 900 * MBIT })).toBeGreaterThan(-0.01);
});

it("is the mean over lines of a client of whom nothing is known, and less of it the smaller the page", () => {
  expect(loss(4, 21.7e6)).toBeLessThan(-0.03);
  expect(loss(4, 21.7e6)).toBeGreaterThan(-0.1);
  expect(loss(30, 1e6)).toBeGreaterThan(loss(30, 1e7));
});

it("takes what the connection at hand shows for the least that the line has", () => {
  expect(loss(1, 1e7, { leastBps: 800 * MBIT })).toBeCloseTo(loss(1, 1e7, { reachedBps: 800 * MBIT }), 12);
  expect(loss(30, 1e6, { leastBps: MBIT })).toBe(loss(30, 1e6));
});
