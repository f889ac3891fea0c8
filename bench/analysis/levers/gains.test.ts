import { expect, it } from "vitest";
import { LEVERS } from "../../model/levers.ts";
import { type Kind, leverGains, type MeasuredPlace, pickedTcp } from "./gains.ts";
import { leversSummary, leversValues } from "./report.ts";

/** Four loads of each kind that all take this long. */
function pages(ms: number): Record<Kind, number[][]> {
  const loads = Array.from({ length: 4 }, () => [ms]);
  return { first: loads, later: loads, return: loads };
}

/** A place where all levers take 1 s but those that are named. */
function place(name: string, lossRatio: number, ms: Readonly<Record<string, number>>): MeasuredPlace {
  const measured = Object.fromEntries(LEVERS.map(({ id }) => [id, pages(ms[id] ?? 1_000)]));
  return { name, rttMs: 40, lossRatio, rateMbps: 20, pages: measured };
}

const PLACES = [place("clean", 0, { "quic-go": 500, bbr: 2_000 }), place("lossy", 0.01, { bbr: 250, "quic-go": 500 })];

function laterOf(lever: string): number | undefined {
  return leverGains(PLACES, LEVERS, 1).find((one) => one.lever === lever)?.gains.later.mean.estimate;
}

it("gives a lever's mean gain over cubic, and the pick's for each place", () => {
  expect(laterOf("cubic")).toBe(0);
  expect(laterOf("quic-go")).toBeCloseTo(Math.LN2, 9);
  expect(laterOf("bbr")).toBeCloseTo((Math.log(1 / 2) + Math.log(4)) / 2, 9);
  expect(laterOf("for each: bbr or quic-go")).toBeCloseTo((Math.LN2 + Math.log(4)) / 2, 9);
});

it("judges a pick by the loads that it was not picked by", () => {
  const odd = place("odd", 0, {});
  // Each half is fast where the other one is slow: who picks by one half is wrong by the other.
  const bbr = { ...pages(1_000), later: [[500], [2_000], [500], [2_000]] };
  const [gain] = leverGains([{ ...odd, pages: { ...odd.pages, bbr } }], LEVERS, 1)
    .filter(({ lever }) => lever === "for each: bbr or quic-go")
    .map(({ gains }) => gains.later.mean.estimate);
  expect(gain).toBeCloseTo(Math.log(1 / 2) / 2, 9);
});

it("says what one TCP for each place is worth over one for all", () => {
  const later = pickedTcp(PLACES, LEVERS, 1).find(({ kind }) => kind === "later");
  expect(later).toMatchObject({ best: "bbr", over: 1 });
  expect(later?.more.mean.estimate).toBeCloseTo(Math.LN2 / 2, 9);
});

it("leaves out a place that lacks a lever's loads, and tells parts apart", () => {
  const { all, groups } = leversSummary(
    [...PLACES, { ...place("short", 0, {}), pages: { cubic: pages(1) } }],
    LEVERS,
    1,
  );
  expect(all[0]?.places).toBe(2);
  expect(groups.map(({ name, levers }) => [name, levers[0]?.places])).toEqual([
    ["no loss", 1],
    ["with loss", 1],
    ["RTT below 50 ms", 2],
    ["RTT of 50 ms and more", 0],
  ]);
  expect(leversValues({ all, groups, tcp: [] }).gains).toMatch(/\| bbr +\| 0\.35 \(-0\.69 to 1\.39\)/);
});
