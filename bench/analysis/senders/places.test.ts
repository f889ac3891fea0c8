import { describe, expect, it } from "vitest";
import type { LoadRow } from "../../model/load-row.ts";
import { exampleRow } from "../../model/testing.ts";
import { gainOf, GAINS, logMean, placesOf, stacksOf } from "./places.ts";

/** A visit of two pages. */
const visit = (first: number, later: number, given: Partial<LoadRow> = {}): LoadRow =>
  exampleRow({
    arm: "bare",
    congestion: "cubic",
    flow: "visit",
    delayMs: 15,
    lossRatio: 0.01,
    imageBytes: 1e6,
    handshakeMs: 60,
    pagesMs: `${first};${later}`,
    ...given,
  });
const THREE = [visit(190, 90), visit(200, 100), visit(210, 110)];

describe("placesOf", () => {
  it("has the mean times of a first page, with and without the connection's set-up, and of a later one", () => {
    const [place, ...others] = placesOf(THREE);
    expect(others).toEqual([]);
    expect(place).toMatchObject({ rttMs: 30, lossRatio: 0.01, contentBytes: 1e6 });
    const { n, first, opened, later } = place?.times.cubic ?? {};
    expect(n).toBe(3);
    expect(first?.log).toBeCloseTo(Math.log(200), 12);
    expect(opened?.log).toBeCloseTo(Math.log(140), 12);
    expect(later?.log).toBeCloseTo(Math.log(100), 12);
    // Deviations of 10 around each mean.
    expect(first?.se).toBeCloseTo(10 / 200 / Math.sqrt(3), 12);
    expect(later?.se).toBeCloseTo(10 / 100 / Math.sqrt(3), 12);
  });

  it.each([
    [{ arm: "bare", congestion: "bbr" }, "bbr"],
    [{ arm: "bare", congestion: "reno" }, "reno"],
    [{ arm: "bare-h3" }, "quic-go"],
    [{ arm: "quiche-cubic" }, "quiche-cubic"],
    [{ arm: "quiche-bbr2" }, "quiche-bbr2"],
  ] as const)("knows the sender of %j", (given, sender) => {
    const [place] = placesOf(THREE.map((row) => ({ ...row, ...given })));
    expect(Object.keys(place?.times ?? {})).toEqual([sender]);
  });

  it("puts senders of one network and size together, and keeps others apart", () => {
    const over = (given: Partial<LoadRow>): LoadRow[] => THREE.map((row) => ({ ...row, ...given }));
    // QUIC's loads are made beside those of one TCP alone, and are each TCP's.
    const rows = [
      ...THREE,
      ...over({ congestion: "bbr" }),
      ...over({ arm: "bare-h3" }),
      ...over({ delayMs: 50 }),
      ...over({ lossRatio: 0 }),
      ...over({ imageBytes: 1e5 }),
    ];
    expect(
      placesOf(rows).map(({ rttMs, lossRatio, contentBytes, times }) => [
        rttMs,
        lossRatio,
        contentBytes,
        Object.keys(times).sort(),
      ]),
    ).toEqual([
      [30, 0.01, 1e6, ["bbr", "cubic", "quic-go"]],
      [100, 0.01, 1e6, ["cubic"]],
      [30, 0, 1e6, ["cubic"]],
      [30, 0.01, 1e5, ["cubic"]],
    ]);
  });

  it.each([
    ["too few loads", THREE.slice(1)],
    ["loads that the machine was too busy for", THREE.map((row) => ({ ...row, dropped: "busy" as const }))],
    ["loads that failed", THREE.map((row) => ({ ...row, outcome: "failed" as const, loadMs: null }))],
    ["visits that ended after one page", THREE.map((row) => ({ ...row, pagesMs: "200" }))],
    ["an unknown set-up", THREE.map((row) => ({ ...row, handshakeMs: null }))],
  ])("knows no times of %s", (_name, rows) => {
    expect(placesOf(rows).flatMap(({ times }) => Object.keys(times))).toEqual([]);
  });

  it.each([
    ["other flows", { flow: "trained" }],
    ["other arms", { arm: "fixed-h2" }],
  ] as const)("leaves %s out", (_name, given) => {
    const others = Array.from({ length: 9 }, () => visit(1, 1, given));
    expect(placesOf([...THREE, ...others])).toEqual(placesOf(THREE));
  });
});

describe("logMean", () => {
  it("is the logarithm of the mean, not the mean of logarithms", () => {
    expect(logMean([100, 300]).log).toBeCloseTo(Math.log(200), 12);
  });

  it("has a standard error of the spread over the mean, less with more loads", () => {
    const few = logMean([90, 110]);
    const many = logMean(Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? 90 : 110)));
    expect(few.se).toBeCloseTo(Math.sqrt(200) / 100 / Math.sqrt(2), 12);
    expect(many.se).toBeLessThan(few.se / 9);
  });

  it("never takes loads that happen to be alike for certain", () => {
    expect(logMean([100, 100, 100, 100]).se).toBeCloseTo(0.005, 12);
  });
});

describe("gains", () => {
  const at = (log: number, se = 0) => ({ log, se });
  const h2 = { n: 3, first: at(6, 0.3), opened: at(5.5), later: at(5, 0.3) };
  const h3 = { n: 3, first: at(5.9, 0.4), opened: at(5.7, 0.4), later: at(4.8, 0.4) };

  it("are above 0 where HTTP/3 takes less time", () => {
    expect(gainOf(logMean([200, 200]), logMean([100, 100])).log).toBeCloseTo(Math.log(2), 12);
    expect(gainOf(logMean([100, 100]), logMean([200, 200])).log).toBeCloseTo(-Math.log(2), 12);
  });

  it.each([
    ["return", "compares first pages, each with its set-up", 0.1],
    ["opened", "sets HTTP/3's first page without its set-up beside HTTP/2's later one", -0.7],
    ["later", "compares later pages", 0.2],
  ] as const)("%s %s", (kind, _about, gain) => {
    expect(GAINS[kind](h2, h3).log).toBeCloseTo(gain, 12);
    // The two were measured apart.
    expect(GAINS[kind](h2, h3).se).toBeCloseTo(0.5, 12);
  });
});

describe("stacksOf", () => {
  const placeOf = (...rows: readonly Partial<LoadRow>[]) =>
    placesOf(rows.flatMap((given) => THREE.map((row) => ({ ...row, ...given }))));

  it("has every pair that shares a place", () => {
    const places = placeOf({}, { congestion: "bbr" }, { arm: "bare-h3" }, { arm: "quiche-bbr2" });
    expect(stacksOf(places)).toEqual([
      { tcp: "cubic", quic: "quic-go" },
      { tcp: "cubic", quic: "quiche-bbr2" },
      { tcp: "bbr", quic: "quic-go" },
      { tcp: "bbr", quic: "quiche-bbr2" },
    ]);
  });

  it("has none that were never measured on the same network", () => {
    expect(stacksOf(placeOf({}, { arm: "bare-h3", delayMs: 50 }))).toEqual([]);
    expect(stacksOf([])).toEqual([]);
  });
});
