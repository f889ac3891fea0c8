import { describe, expect, it } from "vitest";
import { busiest, type CoreSample, parseCores } from "./cores.ts";

it("reads the cores of /proc/stat, stolen time as busy", () => {
  const text = [
    "cpu  300 0 100 1000 50 0 10 40 7 0",
    "cpu0 100 1 50 500 20 2 5 30 7 0",
    "cpu1 200 0 50 500 30 0 5 10 0 0",
    "intr 12345 0 9",
  ].join("\n");
  expect(parseCores(text)).toEqual([
    { busy: 188, total: 708 },
    { busy: 265, total: 795 },
  ]);
});

describe("busiest", () => {
  /** Two cores, every 50 ms: the first idle, the second busy from 300 ms to 600 ms. */
  const samples: CoreSample[] = Array.from({ length: 25 }, (_, i) => ({
    atMs: i * 50,
    cores: [
      { busy: 0, total: i * 5 },
      { busy: Math.min(30, Math.max(0, i * 5 - 30)), total: i * 5 },
    ],
  }));

  it.each([
    ["all of a busy time", 300, 600, 1],
    ["a window that half of is busy", 300, 900, 0.5],
    ["a time without work", 700, 1_200, 0],
    ["from the sample before to the sample after", 310, 890, 0.5],
    ["at least 250 ms", 560, 600, 1],
  ])("%s", (_, fromMs, toMs, ratio) => {
    expect(busiest(samples, fromMs, toMs)).toBeCloseTo(ratio, 10);
  });

  it.each([
    ["before the watch", -10, 500],
    ["after it", 500, 1_300],
    ["for too short a watch", 0, 100],
  ])("nothing %s", (_, fromMs, toMs) => {
    expect(busiest(samples, fromMs, toMs)).toBeNaN();
  });
});
