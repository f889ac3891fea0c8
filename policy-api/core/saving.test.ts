import { describe, expect, it } from "vitest";
import type { KnownPath, TransportPath } from "./path.ts";
import type { TimesMethod } from "./policy.ts";
import { predict, predictCold, type Prediction } from "./saving.ts";
import { LATTICE } from "./testing.ts";
import type { TimesLattice } from "./times.ts";

/** A path without uncertainty: on LATTICE's node without loss, where HTTP/2 takes half as long. */
const CERTAIN: TransportPath = {
  transport: "tcp",
  rttMs: 100,
  lossRatio: 0,
  lossLow: 0,
  lossHigh: 0,
  deliveryRateBps: 25e6,
  rateSe: 0,
};
const path = (over: Partial<TransportPath> = {}): TransportPath => ({ ...CERTAIN, ...over });
const known = (...paths: TransportPath[]): KnownPath => ({ basis: "client", paths });

/** The same stay / switch and stay / cold at all nodes, with the fit's standard errors. */
const flat = (switchSaving: number, coldSaving: number, se = 0): TimesLattice => ({
  rttMs: [0],
  lossRatio: [0],
  deliveryRateBps: [1e6],
  contentBytes: [1e6],
  stayMs: [1_000],
  switchMs: [1_000 / switchSaving],
  coldMs: [1_000 / coldSaving],
  switchSe: [se],
  coldSe: [se],
});
const times = (over: Omit<TimesMethod, "kind">): TimesMethod => ({ kind: "times", ...over });

function predicted(method: TimesMethod, at: KnownPath, standardErrors = 1, bytes = 1e6): Prediction {
  const prediction = predict(method, at, bytes, standardErrors);
  if (prediction === undefined) throw new Error("nothing was predicted");
  return prediction;
}

describe("predict", () => {
  it.each<[string, Omit<TimesMethod, "kind">, TransportPath["transport"], number]>([
    ["TCP in what TCP measures", { tcp: flat(2, 2), quic: flat(3, 3) }, "tcp", 2],
    ["QUIC in what QUIC measures", { tcp: flat(2, 2), quic: flat(3, 3) }, "quic", 3],
    ["QUIC in TCP's where it has none", { tcp: flat(2, 2) }, "quic", 2],
    ["TCP in QUIC's where it has none", { quic: flat(3, 3) }, "tcp", 3],
  ])("%s", (_name, method, transport, ratio) => {
    expect(predicted(times(method), known(path({ transport }))).switch.log).toBeCloseTo(Math.log(ratio), 12);
  });

  it("has nothing to say without times or without a path", () => {
    expect(predict(times({}), known(path()), 1e6, 1)).toBeUndefined();
    expect(predict(times({ tcp: LATTICE }), known(), 1e6, 1)).toBeUndefined();
  });

  it("each transport is looked up at its own coordinates", () => {
    const method = times({ tcp: LATTICE, quic: LATTICE });
    const lossy = path({ transport: "quic", lossRatio: 0.04, lossLow: 0.04, lossHigh: 0.04 });
    expect(predicted(method, known(path())).switch.log).toBeCloseTo(-Math.log(2), 12);
    expect(predicted(method, known(lossy)).switch.log).toBeCloseTo(Math.log(2), 12);
  });

  it("of the bytes that a session transfers", () => {
    const bySize: TimesLattice = {
      ...flat(1, 1),
      contentBytes: [1e4, 1e6],
      stayMs: [100, 100],
      switchMs: [200, 50],
      coldMs: [100, 100],
      switchSe: [0, 0],
      coldSe: [0, 0],
    };
    const saving = (bytes: number) => predicted(times({ tcp: bySize }), known(path()), 1, bytes).switch.log;
    expect([saving(1e4), saving(1e5), saving(1e6)].map((log) => Math.round(Math.exp(log) * 1e6) / 1e6)).toEqual([
      0.5, 1, 2,
    ]);
  });

  const lossWide = path({ lossHigh: 0.04 });
  const byRate: TimesLattice = {
    ...LATTICE,
    lossRatio: [0],
    deliveryRateBps: [1e6, 1e6 * Math.E ** 2],
    stayMs: [100, 100, 100 * Math.E, 100 * Math.E],
    switchMs: [100, 100, 100, 100],
    coldMs: [100, 100, 100, 100],
  };
  it.each<[string, TimesLattice, TransportPath, number]>([
    ["none where everything is certain", LATTICE, path(), 0],
    ["what the fit may be off by", flat(1, 1, 0.2), path(), 0.2],
    ["what the loss may be off by", LATTICE, lossWide, 2 * Math.log(2)],
    ["what the rate may be off by", byRate, path({ deliveryRateBps: 1e6 * Math.E, rateSe: 0.3 }), 0.15],
    ["the larger way off, not both", byRate, path({ deliveryRateBps: 1e6, rateSe: 0.3 }), 0.15],
    ["what the times do not depend on adds nothing", flat(1, 1, 0.2), path({ lossHigh: 1, rateSe: 5 }), 0.2],
    ["all of them, as errors add", { ...LATTICE, switchSe: [1, 1, 1, 1] }, lossWide, Math.hypot(1, 2 * Math.log(2))],
  ])("uncertainty: %s", (_name, lattice, at, expected) => {
    const method = times({ tcp: lattice });
    expect(predicted(method, known(at)).switch.halfWidth).toBeCloseTo(expected, 9);
    expect(predicted(method, known(at), 2).switch.halfWidth).toBeCloseTo(2 * expected, 9);
    expect(predicted(method, known(at), 0).switch.halfWidth).toBe(0);
  });
});

describe("two transports", () => {
  const both = known(path(), path({ transport: "quic" }));
  /** TCP predicts a ratio with a standard error, and QUIC another. */
  const weighed = (a: [number, number], b: [number, number], standardErrors = 1) =>
    predicted(times({ tcp: flat(a[0], a[0], a[1]), quic: flat(b[0], b[0], b[1]) }), both, standardErrors);

  it("that agree are as certain as the more certain of them", () => {
    const { switch: saving } = weighed([2, 0.1], [2, 0.3]);
    expect(saving.log).toBeCloseTo(Math.log(2), 12);
    expect(saving.halfWidth).toBeCloseTo(0.1, 12);
  });

  it.each<[string, [number, number], [number, number], number]>([
    ["alike in certainty: the middle", [2, 0.1], [0.5, 0.1], 0],
    ["one twice as certain: four times the weight", [2, 0.1], [0.5, 0.2], 0.6 * Math.log(2)],
    ["one certain for sure", [2, 0], [0.5, 0.2], Math.log(2)],
    ["both certain for sure", [2, 0], [0.5, 0], 0],
  ])("are weighed by precision: %s", (_name, a, b, expected) => {
    expect(weighed(a, b).switch.log).toBeCloseTo(expected, 6);
    // Whatever the caution: if one transport has three packets and the other thousands, the thousands decide.
    for (const standardErrors of [0, 3]) expect(weighed(a, b, standardErrors).switch.log).toBeCloseTo(expected, 6);
  });

  it("that contradict each other are no more certain than they are apart", () => {
    const apart = 2 * Math.log(2);
    expect(weighed([2, 0.01], [0.5, 0.01]).switch.halfWidth).toBeCloseTo(apart / 2, 9);
    expect(weighed([2, 0.01], [0.5, 0.02]).switch.halfWidth).toBeCloseTo(apart * 0.2, 9);
    expect(weighed([2, 0.01], [0.5, 0.01], 2).switch.halfWidth).toBeCloseTo(apart, 9);
    expect(weighed([2, 0.01], [0.5, 0.01], 0).switch.halfWidth).toBe(0);
  });

  it("have their times mixed as the savings are", () => {
    const { times: mixed } = weighed([4, 0.1], [1, 0.1]);
    expect(mixed.stayMs).toBeCloseTo(1_000, 9);
    expect(mixed.switchMs).toBeCloseTo(500, 9);
    expect(mixed.coldMs).toBeCloseTo(500, 9);
  });

  it("of which one is broken leave the word to the other", () => {
    const broken = path({ lossRatio: Number.NaN, lossLow: Number.NaN, lossHigh: Number.NaN });
    const method = times({ tcp: LATTICE, quic: LATTICE });
    const alone = predicted(method, known(path({ transport: "quic" })));
    for (const paths of [
      [broken, path({ transport: "quic" })],
      [path({ transport: "quic" }), broken],
    ] as const)
      expect(predicted(method, known(...paths))).toEqual(alone);
  });
});

describe("a switch that costs round trips", () => {
  const method = times({ tcp: { ...flat(9, 2), switchSe: [9], coldSe: [0.1] }, switchRoundTrips: 2 });

  it.each([
    [0, 500],
    [10, 520],
    [250, 1_000],
  ])("over %i ms takes a cold session and two of them: %i ms", (rttMs, switchMs) => {
    const prediction = predicted(method, known(path({ rttMs })));
    expect(prediction.times.switchMs).toBeCloseTo(switchMs, 9);
    expect(prediction.times.coldMs).toBeCloseTo(500, 9);
    expect(prediction.switch.log).toBeCloseTo(Math.log(1_000 / switchMs), 12);
    // The fit of the measured switch does not count.
    expect(prediction.switch.halfWidth).toBeCloseTo(0.1, 12);
    expect(prediction.cold.log).toBeCloseTo(Math.log(2), 12);
  });
});

describe("predictCold", () => {
  const METHOD: TimesMethod = { kind: "times", tcp: LATTICE };
  const mix: TimesLattice = {
    ...LATTICE,
    lossRatio: [0.01],
    stayMs: [100, 400],
    switchMs: [200, 200],
    coldMs: [100, 100],
    switchSe: [0.1, 0.1],
    coldSe: [0.2, 0.2],
  };

  it.each([
    ["at an RTT of the axis", 0, -Math.log(2)],
    ["between two", Math.sqrt(101) - 1, 0],
    ["beyond it, as at its edge", 1e4, Math.log(2)],
  ])("the mean of the networks %s", (_name, rttMs, expected) => {
    expect(predictCold({ advertise: "nothing", times: mix }, METHOD, rttMs, 1e6, 1)?.switch.log).toBeCloseTo(
      expected,
      9,
    );
  });

  it("takes what a switch costs from the method, where that says so", () => {
    const byRoundTrips = { ...METHOD, switchRoundTrips: 2 };
    // A cold session takes 100 ms. With two round trips of 100 ms, a switch takes 300. Staying takes 400.
    const prediction = predictCold({ advertise: "nothing", times: mix }, byRoundTrips, 100, 1e6, 1);
    expect(prediction?.switch.log).toBeCloseTo(Math.log(400 / 300), 9);
  });

  it("is as uncertain as its fit", () => {
    const prediction = predictCold({ advertise: "nothing", times: mix }, METHOD, 50, 1e6, 2);
    expect(prediction?.switch.halfWidth).toBeCloseTo(0.2, 12);
    expect(prediction?.cold.halfWidth).toBeCloseTo(0.4, 12);
  });

  it("has nothing to say without times", () => {
    expect(predictCold({ advertise: "h3" }, METHOD, 50, 1e6, 1)).toBeUndefined();
  });
});
