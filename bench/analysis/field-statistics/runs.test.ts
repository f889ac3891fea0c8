import { describe, expect, it } from "vitest";
import { LIES, type Lie, playLiars } from "./liars.ts";
import { fieldReport, verdictsOf } from "./report.ts";
import { playScenario, type Tally } from "./runs.ts";
import { CLIENTS, LOOKS, SCENARIOS } from "./scenarios.ts";

const planted = SCENARIOS.find(({ saves, missing, cv }) => saves === 0.2 && missing === "at-random" && cv === 0.3);
if (planted === undefined) throw new Error("No scenario has 20 % without other difficulties.");
const tally = playScenario(planted, 3, 1);
const liars = (Object.keys(LIES) as Lie[]).map((lie) => ({
  scenario: planted.name,
  lie,
  looks: playLiars(planted, lie, 2, 1),
}));

describe("playScenario", () => {
  it("looks from 200 clients on, to all of them", () => {
    expect(LOOKS[0]).toBe(200);
    expect(LOOKS.at(-1)).toBe(CLIENTS);
  });

  it("gives the same tally for the same seed, and another for another one", () => {
    expect(playScenario(planted, 3, 1)).toEqual(tally);
    expect(playScenario(planted, 3, 2).last.error).not.toBe(tally.last.error);
  });

  it("finds a planted effect of 20 % in every run", () => {
    expect(tally.shown.at(-1)).toMatchObject({ gain: 3, primary: 3, claimed: 3 });
    expect(Math.abs(tally.last.error / 3)).toBeLessThan(0.01);
    // By assignment: 0.705 of ln(1 / 0.8). A missing page counts alike in both arms, so the primary outcome is a little less.
    expect(tally.truth.gain).toBeCloseTo(0.1573, 3);
    expect(tally.truth.primary).toBeLessThan(tally.truth.gain);
    expect(tally.truth.primary).toBeGreaterThan(0.9 * tally.truth.gain);
  });
});

describe("playLiars", () => {
  it("moves nothing much if all say the same, and no more than the bound if each arm says the opposite", () => {
    const movedBy = (lie: Lie): number => liars.find((one) => one.lie === lie)?.looks.at(-1)?.moved ?? 0;
    expect(movedBy("all say slow")).toBeLessThan(0.2 * movedBy("each arm says the opposite"));
    for (const { looks } of liars) for (const { mostOfBound } of looks) expect(mostOfBound).toBeLessThan(1.1);
  });
});

describe("the report", () => {
  it("fills every place of its template", () => {
    const text = fieldReport([tally], liars, { command: "npm run bench -- field-statistics", seed: 1 });
    expect(text).toContain(planted.name);
    expect(text).toContain("| holds");
  });

  it.each<[string, Partial<Tally>, number]>([
    ["coverage of the gain", { covered: { ...tally.covered, gain: 2 } }, 1],
    ["coverage of the local effect", { covered: { ...tally.covered, local: 0 } }, 2],
    ["width", { last: { ...tally.last, reach: 1.7 * tally.last.fixedReach } }, 3],
    ["the draw", { called: { ...tally.called, uneven: 1 } }, 4],
  ])("says what does not hold: %s", (_name, over, rule) => {
    const good = {
      ...tally,
      covered: { primary: 3, gain: 3, plainGain: 3, local: 3, fixed: 3 },
      called: { uneven: 0, reportsDiffer: 0 },
    };
    expect(verdictsOf([good]).map(({ holds }) => holds)).toEqual([true, true, true, true, true]);
    expect(verdictsOf([good, { ...good, ...over }])[rule]?.holds).toBe(false);
  });
});
