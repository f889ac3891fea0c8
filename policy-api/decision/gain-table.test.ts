import { describe, expect, it } from "vitest";
import { FIGURES, figuresAt, type GainTable, gridOf, nearestPlace, overNodes } from "./gain-table.ts";
import { LOSS_NODES, NODES } from "./loss-nodes.ts";

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

/** What the table says at an RTT and size. */
function gainsAt(table: GainTable, rttMs: number, contentBytes: number) {
  const [figures, price] = figuresAt(gridOf(table), rttMs, contentBytes);
  const figuresFrom = (place: number): readonly number[] => figures.slice(place, place + NODES);
  const { next, nextSe, return: again, returnSe } = FIGURES;
  return {
    next: figuresFrom(next),
    nextSe: figuresFrom(nextSe),
    return: figuresFrom(again),
    returnSe: figuresFrom(returnSe),
    price,
  };
}

describe("figuresAt", () => {
  it("is the table's own figure at its places", () => {
    const { next, price } = gainsAt(TABLE, 99, 1e5);
    expect(next[0]).toBeCloseTo(0.1, 12);
    expect(next[2]).toBeCloseTo(0.3, 12);
    expect(next[5]).toBeCloseTo(0.5, 12);
    expect(price).toBeCloseTo(0.1, 12);
  });

  it("is half way between two, in the logarithm", () => {
    // 1 added to an RTT: ln(10), ln(100), half way is sqrt(1000).
    expect(gainsAt(TABLE, Math.sqrt(1_000) - 1, 1e5).next[0]).toBeCloseTo(0.05, 9);
    expect(gainsAt(TABLE, 9, Math.sqrt(1e11)).next[0]).toBeCloseTo(0.5, 9);
    expect(gainsAt(TABLE, Math.sqrt(1_000) - 1, 1e5).price).toBeCloseTo(0.2, 9);
  });

  it("lies between its neighbours at a loss that the table does not have", () => {
    const { next } = gainsAt(TABLE, 9, 1e5);
    for (const node of [3, 4]) {
      expect(next[node]).toBeGreaterThan(0.2);
      expect(next[node]).toBeLessThan(0.4);
    }
  });

  it.each([
    ["nearer", 0.1, 1e5, 0],
    ["farther", 1e4, 1e5, 0.1],
    ["smaller", 9, 1, 0],
  ])("takes the table's end outside of it: %s", (_name, rttMs, bytes, expected) => {
    expect(gainsAt(TABLE, rttMs, bytes).next[0]).toBeCloseTo(expected, 12);
  });

  describe("of a page larger than the table's", () => {
    const ofLarger = (bytes: number) => gainsAt(TABLE, 9, bytes).next;
    const largest = ofLarger(1e6);

    it("leaves a tenth of the gain without loss at ten times the size, and half of the way there in the logarithm", () => {
      expect(ofLarger(1e7)[0]).toBeCloseTo(0.1, 12);
      expect(ofLarger(Math.sqrt(1e13))[0]).toBeCloseTo(0.55, 9);
    });

    it("takes a loss for a higher one, and the highest for itself", () => {
      // 0.2 % is a loss of the table's: three times as much lies between it and 5 %.
      expect(largest[2]).toBeCloseTo(1.2, 12);
      expect(ofLarger(1e7)[2]).toBeGreaterThan(1.2);
      expect(ofLarger(1e7)[2]).toBeLessThan(1.4);
      expect(ofLarger(1e7)[5]).toBeCloseTo(1.4, 12);
    });

    it("says no more of one still larger", () => {
      expect(ofLarger(1e12)).toEqual(ofLarger(1e7));
    });
  });

  it("gives its standard errors likewise", () => {
    const { nextSe, returnSe, return: again } = gainsAt(TABLE, 30, 3e5);
    for (const se of [...nextSe, ...returnSe]) expect(se).toBeCloseTo(0.02, 12);
    for (const gain of again) expect(gain).toBeCloseTo(2, 12);
  });

  it("says NaN of broken figures", () => {
    expect(gainsAt(TABLE, Number.NaN, 1e5).next.every(Number.isFinite)).toBe(true);
    expect(gainsAt({ ...TABLE, next: of([]) }, 9, 1e5).next.every(Number.isNaN)).toBe(true);
  });
});

describe("overNodes", () => {
  it("leaves a mix over the nodes as it is", () => {
    const mix = [0.5, 0.2, 0.1, 0.1, 0.05, 0.05];
    overNodes(LOSS_NODES, mix).forEach((weight, node) => expect(weight).toBeCloseTo(mix[node] ?? 0, 12));
  });

  it("spreads another loss over its neighbours, and makes it add up to 1", () => {
    const spread = overNodes([0, 0.01], [1, 1]);
    expect(spread[0]).toBeCloseTo(0.5, 2);
    expect((spread[3] ?? 0) + (spread[4] ?? 0)).toBeCloseTo(0.5, 2);
    expect(spread.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
  });

  it("leaves no loss without any weight: packets could never show it", () => {
    for (const weight of overNodes([0, 0.05], [1, 0])) expect(weight).toBeGreaterThan(0.001);
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
