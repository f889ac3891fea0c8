import { describe, expect, it } from "vitest";
import { ASSIGNMENT_MS } from "../decision/assignment.ts";
import type { GroundsChecked } from "./compare.ts";
import type { PeriodSums } from "./stack-change.ts";
import { drawnArms } from "./testing.ts";
import { useChangeOf } from "./use-change.ts";

const GROUNDS: GroundsChecked = {
  sampleRatio: { share: 0.5, expectedShare: 0.5, logEvidence: 0, isUneven: false },
  elsewhere: 0,
  objections: [],
};

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
