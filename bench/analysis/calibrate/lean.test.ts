import { expect, it } from "vitest";
import type { GainTable } from "../../../policy-api/decision/gain-table.ts";
import { fitOf, leanTable, lossyGainOf, placesIn, roundTripGain } from "./lean.ts";

const RTTS = [5, 30, 100];
const SIZES = [100_000, 1_000_000];
const PRICE = (rttMs: number) => ({ log: rttMs / 1_000, se: 0.01 });

/** A table whose round trips gain so much; with loss by `more`. */
function measured(next: number, again: number, more = 0): GainTable {
  const of = (gain: number, kind: "next" | "return") => {
    const at = (extra: number) =>
      RTTS.map((rttMs) => (bytes: number) => roundTripGain(gain, kind, rttMs, bytes) + extra);
    const figures = SIZES.map((bytes) => [0, more].map((extra) => at(extra).map((one) => one(bytes))));
    return { gain: figures, se: figures.map((losses) => losses.map((rtts) => rtts.map(() => 0.01))) };
  };
  const price = RTTS.map(() => 0);
  const axes = { rttMs: RTTS, lossRatio: [0, 0.05], contentBytes: SIZES };
  return { ...axes, next: of(next, "next"), return: of(again, "return"), price, priceSe: RTTS.map(() => 0.01) };
}

it("a page is its bytes and four round trips: 1 MB at 30 ms", () => {
  // 160 ms by 50 Mbit/s and 120 ms; over HTTP/3 the 120 are 80.4.
  expect(roundTripGain(0.4, "next", 30, 1_000_000)).toBeCloseTo(Math.log(280 / 240.4), 3);
  expect(roundTripGain(0.4, "return", 30, 1_000_000)).toBeCloseTo(Math.log(340 / 280.7), 3);
});

it("finds what a round trip gains again, whichever way it goes", () => {
  for (const gain of [-0.55, 0, 0.4]) {
    const found = fitOf(placesIn(measured(gain, 0), [1, 0], "next"), "next", false);
    expect(found.gain).toBeCloseTo(gain, 9);
    expect(found.se).toBeCloseTo(0, 9);
  }
});

it("takes the mean over losses, and tells how far the places are from it", () => {
  const lossy = fitOf(placesIn(measured(0.4, 0.4, 0.5), [0.8, 0.2], "return"), "return", false);
  expect(lossy.gain).toBeGreaterThan(0.45);
  expect(lossy.se).toBeGreaterThan(0.01);
});

it("says what a page gains where much is lost", () => {
  const { gain, se } = lossyGainOf(measured(0, 0, 0.6), "next");
  expect(gain).toBeCloseTo(0.6, 9);
  expect(se).toBeCloseTo(0, 9);
  expect(lossyGainOf(measured(0.4, 0), "next").se).toBeGreaterThan(0.05);
});

it("makes a table that gains little nearby and of large files, unless much is lost", () => {
  const table = leanTable(measured(0.4, 0.3), [1, 0], PRICE);
  const at = (kind: "next" | "return", bytes: number, rttMs: number): number =>
    table[kind].gain[table.contentBytes.indexOf(bytes)]?.[0]?.[table.rttMs.indexOf(rttMs)] ?? Number.NaN;
  expect(table.lossRatio).toEqual([0, 0.02]);
  for (const losses of table.next.gain) expect(new Set(losses[1]).size).toBe(1);
  expect(at("next", 1_000_000, 100)).toBeCloseTo(roundTripGain(0.4, "next", 100, 1_000_000), 3);
  expect(at("return", 100_000, 300)).toBeCloseTo(roundTripGain(0.3, "return", 300, 100_000), 3);
  expect(at("next", 100_000_000, 10)).toBeLessThan(0.002);
  expect(at("next", 1_000_000, 1)).toBeLessThan(0.01);
  expect(table.price).toEqual([0.001, 0.01, 0.03, 0.1, 0.3]);
});

it("takes what browsers gain in the place of round trips, and what they take longer also where much is lost", () => {
  const browsers = { next: { gain: 0.7, cost: 0.2, se: 0.1 }, return: { gain: 0.5, cost: 0.3, se: 0.1 } };
  const table = leanTable(measured(0.4, 0.3), [1, 0], PRICE, browsers);
  for (const [kind, { gain, cost }] of Object.entries(browsers) as ["next" | "return", typeof browsers.next][]) {
    const losses = table[kind].gain[table.contentBytes.indexOf(1_000_000)];
    const rtt = table.rttMs.indexOf(30);
    expect(losses?.[0]?.[rtt]).toBeCloseTo(roundTripGain(gain, kind, 30, 1_000_000) - cost, 3);
    expect(losses?.[1]?.[rtt]).toBeCloseTo(lossyGainOf(measured(0.4, 0.3), kind).gain - cost, 3);
    const found = fitOf(placesIn(table, [1, 0], kind), kind, true);
    expect([found.gain, found.cost]).toEqual([expect.closeTo(gain, 2), expect.closeTo(cost, 2)]);
  }
});
