import { describe, expect, it } from "vitest";
import { type GainTable, gainsAt, gridOf, lossWeights, nearestPlace } from "./gain-table.ts";
import { LOSS_NODES } from "./loss-nodes.ts";

const of = (gain: number[][][]) => ({ gain, se: gain.map((losses) => losses.map((rtts) => rtts.map(() => 0.02))) });
const TABLE: GainTable = {
  rttMs: [9, 99],
  lossRatio: [0, 0.002, 0.05],
  contentBytes: [1e5, 1e6],
  next: of([
    [
      [0, 0.1],
      [0.2, 0.3],
      [0.4, 0.5],
    ],
    [
      [1, 1.1],
      [1.2, 1.3],
      [1.4, 1.5],
    ],
  ]),
  return: of([
    [
      [2, 2],
      [2, 2],
      [2, 2],
    ],
    [
      [2, 2],
      [2, 2],
      [2, 2],
    ],
  ]),
  price: [0.3, 0.1],
  priceSe: [0.01, 0.01],
};

/** What a table says at an RTT, a size and one of its losses. */
function at(table: GainTable, rttMs: number, contentBytes: number, node: number) {
  return gainsAt(gridOf(table), rttMs, contentBytes, [0, 0, 0].fill(1, node, node + 1));
}

describe("gainsAt", () => {
  it("is the table's own figure at its places", () => {
    expect([0, 1, 2].map((node) => at(TABLE, 99, 1e5, node).next)).toEqual([0.1, 0.3, 0.5]);
    expect(at(TABLE, 99, 1e5, 0).price).toBeCloseTo(0.1, 12);
  });

  it("is half way between two RTTs or sizes, in the logarithm", () => {
    // 1 added to an RTT: ln(10), ln(100), half way is sqrt(1000).
    expect(at(TABLE, Math.sqrt(1_000) - 1, 1e5, 0).next).toBeCloseTo(0.05, 9);
    expect(at(TABLE, 9, Math.sqrt(1e11), 0).next).toBeCloseTo(0.5, 9);
    expect(at(TABLE, Math.sqrt(1_000) - 1, 1e5, 0).price).toBeCloseTo(0.2, 9);
  });

  it("is the mean over losses by their weights", () => {
    const mean = gainsAt(gridOf(TABLE), 9, 1e5, [0.5, 0.25, 0.25]);
    expect(mean.next).toBeCloseTo(0.15, 12);
    expect(mean.nextSquare).toBeCloseTo(0.25 * 0.04 + 0.25 * 0.16 + 0.02 ** 2, 12);
    expect(mean.again).toBeCloseTo(2, 12);
  });

  it.each([
    ["nearer", 0.1, 1e5, 0],
    ["farther", 1e4, 1e5, 0.1],
    ["smaller", 9, 1, 0],
    ["larger", 9, 1e12, 1],
  ])("takes the table's end outside of it: %s", (_name, rttMs, bytes, expected) => {
    expect(at(TABLE, rttMs, bytes, 0).next).toBeCloseTo(expected, 12);
  });

  it("says NaN of broken figures", () => {
    expect(at(TABLE, Number.NaN, 1e5, 0).next).toBe(0);
    expect(at({ ...TABLE, next: of([]) }, 9, 1e5, 0).next).toBeNaN();
  });
});

describe("lossWeights", () => {
  const mix = Float64Array.from([0.7, 0.2, 0.1]);
  const weights = (sent: number, lost: number) => [...lossWeights(gridOf(TABLE), mix, { sent, lost })];

  it("is the mix where nobody has counted packets", () => {
    expect(weights(0, 0)).toEqual([...mix]);
  });

  it("counts a client's own loss half after 500 packets, and nearly whole after many", () => {
    expect(weights(500, 1)[1]).toBeCloseTo(0.5 * 0.2 + 0.5, 9);
    expect(weights(1e6, 5e4)[2]).toBeGreaterThan(0.999);
  });

  it("spreads a loss that the table does not have over its neighbours, by how near they are: 1 % between 0.2 and 5 %", () => {
    const [none, some, much] = weights(1e9, 1e7);
    expect(none).toBeLessThan(1e-6);
    expect(some).toBeCloseTo(5 / 6, 6);
    expect(much).toBeCloseTo(1 / 6, 6);
  });

  it("always adds up to 1", () => {
    for (const [sent, lost] of [
      [10, 10],
      [1, 0],
      [4_000, 3],
    ] as const)
      expect(weights(sent, lost).reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });
});

describe("nearestPlace", () => {
  const axes = { rttMs: [3, 20, 60, 150, 300], lossRatio: LOSS_NODES, contentBytes: [1e5, 1e6, 1e7] };
  it.each([
    ["the table's own place", 20, 1_000_000, 0.002, { rtt: 1, size: 1, loss: 2 }],
    ["before the first", 0, 1, 0, { rtt: 0, size: 0, loss: 0 }],
    ["behind the last", 60_000, 1e12, 1, { rtt: 4, size: 2, loss: 5 }],
    // Half way in the logarithm, with 1 ms added: sqrt(21 x 61) - 1 = 34.8 ms.
    ["nearer to the smaller RTT", 34, 1_000_000, 0, { rtt: 1, size: 1, loss: 0 }],
    ["nearer to the larger RTT", 36, 1_000_000, 0, { rtt: 2, size: 1, loss: 0 }],
    ["nearer to the larger size", 20, 3_300_000, 0, { rtt: 1, size: 2, loss: 0 }],
    ["what is not known", Number.NaN, Number.NaN, Number.NaN, { rtt: 0, size: 0, loss: 0 }],
  ])("is %s", (_name, rttMs, contentBytes, lossRatio, expected) => {
    expect(nearestPlace(axes, { rttMs, contentBytes, lossRatio })).toEqual(expected);
  });

  it("has no loss where nobody counts packets", () => {
    expect(nearestPlace(axes, { rttMs: 20, contentBytes: 1e6 })).toEqual({ rtt: 1, size: 1 });
  });
});
