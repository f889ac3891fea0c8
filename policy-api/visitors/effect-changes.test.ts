import { describe, expect, it } from "vitest";
import { ASSIGNMENT_MS } from "../decision/assignment.ts";
import type { GroundsChecked } from "./compare.ts";
import { type PeriodSums, stackChangeOf, useChangeOf } from "./effect-changes.ts";
import { effectOf } from "./effect.ts";
import { reachAfter } from "./intervals.ts";
import { drawnArms } from "./testing.ts";

const GROUNDS: GroundsChecked = {
  sampleRatio: { share: 0.5, expectedShare: 0.5, logEvidence: 0, isUneven: false },
  elsewhere: 0,
  objections: [],
};

/** Clients of each class, in periods one after another: what HTTP/3 saves in each of them. */
function periodsOf(classes: Readonly<Record<number, readonly number[]>>, clients = 400, seed = 0): PeriodSums[] {
  return Object.entries(classes).flatMap(([rttClass, gains]) =>
    gains.map((saves, i): PeriodSums => {
      const drawn = { clients, seed: seed + 100 * Number(rttClass) + 2 * i };
      const arms = drawnArms({ ...drawn, saves, overH3: 0.9 }, { ...drawn, seed: drawn.seed + 1 });
      return { period: 10_300 + i, rttClass: Number(rttClass), arms };
    }),
  );
}

describe("stackChangeOf", () => {
  it("finds the period since when HTTP/3 does something else", () => {
    const change = stackChangeOf(periodsOf({ 1: [0, 0, 0, 0, 0], 3: [0.3, 0.3, 0.3, -0.2, -0.2] }), GROUNDS);
    if (change === undefined) throw new Error("nothing was found");
    expect(change.sinceMs).toBe(10_303 * ASSIGNMENT_MS);
    expect(change.rttClass).toBe(3);
    const { before, since } = change;
    expect(before.low).toBeLessThan(0.3);
    expect(before.high).toBeGreaterThan(0.3);
    expect(since.low).toBeLessThan(-0.2);
    expect(since.high).toBeGreaterThan(-0.2);
  });

  it("finds it from the first period on that has clients enough, and not sooner", () => {
    const gains = [0.3, 0.3, -0.2];
    expect(stackChangeOf(periodsOf({ 3: gains }), GROUNDS)?.sinceMs).toBe(10_302 * ASSIGNMENT_MS);
    expect(stackChangeOf(periodsOf({ 3: gains }, 90), GROUNDS)).toBeUndefined();
  });

  it("takes no difference between classes, and no small one, for a change", () => {
    expect(stackChangeOf(periodsOf({ 0: [-0.3, -0.3, -0.3], 4: [0.4, 0.4, 0.4] }), GROUNDS)).toBeUndefined();
    expect(stackChangeOf(periodsOf({ 3: [0.2, 0.2, 0.3, 0.3] }, 20_000), GROUNDS)).toBeUndefined();
  });

  it("does not depend on how many clients use what they are offered", () => {
    const used = [0.9, 0.9, 0.4, 0.4].map((overH3, i): PeriodSums => {
      const arms = drawnArms({ clients: 3000, saves: 0.3, overH3, seed: 2 * i }, { clients: 3000, seed: 2 * i + 1 });
      return { period: 10_300 + i, rttClass: 3, arms };
    });
    expect(stackChangeOf(used, GROUNDS)).toBeUndefined();
  });

  it("finds none where nothing changes, at any look", () => {
    const found = Array.from({ length: 30 }, (_, run) => {
      const all = periodsOf({ 2: Array.from({ length: 8 }, () => 0.1) }, 150, 1000 * (run + 1));
      return all.map((__, looks) => stackChangeOf(all.slice(0, looks + 1), GROUNDS)).filter(Boolean).length;
    });
    expect(found.filter((count) => count > 0)).toEqual([]);
  });

  it("does not take for a change what one comparison alone would", () => {
    const [before, since] = periodsOf({ 3: [0.1, 0.26] }, 300) as [PeriodSums, PeriodSums];
    const [earlier, later] = [effectOf(before.arms)?.local, effectOf(since.arms)?.local];
    if (earlier === undefined || later === undefined) throw new Error("no effect");
    const inErrors = Math.abs(later.value - earlier.value) / Math.hypot(later.se, earlier.se);
    expect(Math.abs(later.value - earlier.value)).toBeGreaterThan(0.15);
    expect(inErrors).toBeGreaterThan(reachAfter(600));
    expect(stackChangeOf([before, since], GROUNDS)).toBeUndefined();
    // With more clients it is one.
    expect(stackChangeOf(periodsOf({ 3: [0.1, 0.26] }, 2000), GROUNDS)).toBeDefined();
  });

  it("says nothing where the arms cannot be compared, and of no clients", () => {
    const grounds: GroundsChecked = { ...GROUNDS, objections: [{ kind: "offered-elsewhere", share: 0.5 }] };
    expect(stackChangeOf(periodsOf({ 3: [0.3, -0.2] }), grounds)).toBeUndefined();
    expect(stackChangeOf([], GROUNDS)).toBeUndefined();
  });
});

/** Which share of the clients that were offered HTTP/3 used it, in periods one after another. */
function periods(shares: readonly number[], clients = 400, seed = 1): PeriodSums[] {
  return shares.map((overH3, i): PeriodSums => {
    const arms = drawnArms({ clients, saves: 0.1, overH3, seed: seed + 2 * i }, { clients, seed: seed + 2 * i + 1 });
    return { period: 10_300 + i, rttClass: i % 3, arms };
  });
}

describe("useChangeOf", () => {
  it("finds the period since when offers are not followed", () => {
    const change = useChangeOf(periods([0.9, 0.9, 0.9, 0, 0.02]), GROUNDS);
    expect(change?.sinceMs).toBe(10_303 * ASSIGNMENT_MS);
    expect(change?.before.value).toBeGreaterThan(0.8);
    expect(change?.since.value).toBeLessThan(0.05);
  });

  it.each([
    ["they are followed as before", [0.9, 0.9, 0.88, 0.9]],
    ["fewer follow them, and many still do", [0.9, 0.9, 0.4, 0.4]],
    ["hardly anybody ever did", [0.06, 0.06, 0, 0]],
    ["more do", [0, 0, 0.9, 0.9]],
  ])("and none where %s", (_name, shares) => {
    expect(useChangeOf(periods(shares), GROUNDS)).toBeUndefined();
  });

  it("says nothing of too few clients, of arms that cannot be compared, and of none", () => {
    expect(useChangeOf(periods([0.9, 0], 60), GROUNDS)).toBeUndefined();
    const elsewhere: GroundsChecked = { ...GROUNDS, objections: [{ kind: "offered-elsewhere", share: 0.5 }] };
    expect(useChangeOf(periods([0.9, 0.9, 0, 0]), elsewhere)).toBeUndefined();
    expect(useChangeOf([], GROUNDS)).toBeUndefined();
  });

  it("finds none where nothing changes, at any look", () => {
    for (let run = 0; run < 20; run++) {
      const all = periods(
        Array.from({ length: 8 }, () => 0.3),
        150,
        1_000 * (run + 1),
      );
      for (const looks of all.keys()) expect(useChangeOf(all.slice(0, looks + 1), GROUNDS)).toBeUndefined();
    }
  });
});
