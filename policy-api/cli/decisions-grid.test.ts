import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import { adaptivePolicy, GAINS } from "../decision/testing.ts";
import { decisionsGrid, gridText, isChanged } from "./decisions-grid.ts";

const fixedH3: Policy = { ...INITIAL_POLICY, mode: "fixed-h3" };
const changedOn = (before: Policy, after: Policy, path = "/"): number =>
  decisionsGrid(before, after, { path }).filter(isChanged).length;

describe("decisionsGrid", () => {
  it("nothing changes between a policy and itself", () => {
    expect(changedOn(adaptivePolicy(), adaptivePolicy())).toBe(0);
  });

  it("everything changes from observing to always offering", () => {
    const cells = decisionsGrid(INITIAL_POLICY, fixedH3, { path: "/" });
    expect(cells.filter(isChanged).length).toBe(25);
    expect(cells[0]).toEqual({ rttMs: 5, lossRatio: 0, before: "nothing", after: "h3 3600 s" });
    expect(cells.at(-1)).toMatchObject({ rttMs: 200, lossRatio: null });
  });

  it("how long an offer lives is a part of the answer", () => {
    expect(changedOn(fixedH3, { ...fixedH3, ma: { minS: 60, maxS: 600 } })).toBe(25);
  });

  it("rules count for the path", () => {
    const byRule: Policy = { ...INITIAL_POLICY, rules: [{ pathPrefix: "/shop/", mode: "fixed-h3" }] };
    expect(changedOn(INITIAL_POLICY, byRule)).toBe(0);
    expect(changedOn(INITIAL_POLICY, byRule, "/shop/")).toBe(25);
  });

  it("a share is told with how large it is", () => {
    const shares = (share: number): Policy => adaptivePolicy({ method: { kind: "share", share } });
    const answers = (policy: Policy): ReadonlySet<string> =>
      new Set(decisionsGrid(policy, policy, { path: "/" }).map((cell) => cell.after));
    expect([...answers(shares(0.05))]).toEqual(["5 %: h3 10 s"]);
    expect([...answers(shares(1))]).toEqual(["h3 10 s"]);
    expect([...answers(shares(0))]).toEqual(["nothing"]);
  });
});

it("gridText has what changes below what was", () => {
  const lines = gridText(
    // A client of whom nothing is known most likely has no loss, and gets no offer; or gets one.
    decisionsGrid(adaptivePolicy(), adaptivePolicy({ method: { ...GAINS, mix: [0.5, 0.5] } }), { path: "/" }),
    100,
  ).split("\n");
  expect(lines).toHaveLength(7);
  expect(lines[0]).toMatch(/^RTT +5 ms +25 ms +50 ms +100 ms +200 ms$/);
  expect(lines.at(-2)).toMatch(/^unknown client( +nothing){5}$/);
  expect(lines.at(-1)).toMatch(/^ +-> h3 100 s( +-> h3 100 s){4}$/);
});

it("gridText fits where every answer changes and lives long", () => {
  const day = { minS: 86_400, maxS: 86_400 };
  const text = gridText(
    decisionsGrid({ ...fixedH3, ma: day }, { ...fixedH3, ma: { minS: 1, maxS: 10_000 } }, { path: "/" }),
    100,
  );
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(text).not.toContain("...");
});
