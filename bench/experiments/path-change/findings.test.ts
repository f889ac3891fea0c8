import { reportText } from "../../harness/results.ts";
import { pathChangeValues } from "./report.ts";
import { expect, it } from "vitest";
import { findingOf as findingOfRows, withSettled } from "./findings.ts";
import type { NavigationRow } from "./row.ts";
import { SCENARIOS } from "./scenarios.ts";
import { stretchRows } from "./testing.ts";

/** A client's visit: its answers on A, B and A again. */
function visit(client: number, a1: string, b: string, a2: string, b0 = b.slice(-4)): NavigationRow[] {
  const began = 1_767_225_600_000;
  return [
    ...stretchRows({ client, stretch: "B0", startedMs: began - 10_000 }, b0),
    ...stretchRows({ client, stretch: "A1", startedMs: began }, a1),
    ...stretchRows({ client, stretch: "B", startedMs: began + 10_000 }, b),
    ...stretchRows({ client, stretch: "A2", startedMs: began + 24_000 }, a2),
  ];
}

const findingOf = (
  scenario: Parameters<typeof findingOfRows>[0],
  congestion: Parameters<typeof findingOfRows>[1],
  rows: readonly NavigationRow[],
  eitherIsRight: (row: NavigationRow) => boolean = () => false,
) => findingOfRows(scenario, congestion, rows, eitherIsRight);

const MACHINE = {
  kernel: "6",
  arch: "x64",
  cpu: "cpu",
  cores: 2,
  memoryGiB: 8,
  go: "go1",
  quicGo: "v0",
  quiche: "v0",
  k6: "v1",
  workerd: "1",
  node: "v24",
  commit: "abc",
};

function reportOf(findings: ReturnType<typeof findingOf>[]): string {
  const about = { command: "npm run bench -- path-change", day: "2026-01-01", seed: 1, clients: 2 };
  const summary = { ...about, scenarios: SCENARIOS, machine: MACHINE, findings };
  return reportText("path-change", { values: pathChangeValues(summary) });
}

it("a change that all clients are told of within two navigations is followed", () => {
  const rows = [...visit(1, "----", "-HHHHH", "c-----"), ...visit(2, "H---", "--HHHH", "Hc----")];
  const finding = findingOf("loss", "cubic", rows);
  expect(finding.settledA).toEqual({ offers: false, votes: 6, of: 6 });
  expect(finding.settledB).toEqual({ offers: true, votes: 6, of: 6 });
  expect(finding.followings).toEqual([
    { direction: "A to B", until: [1, 2], changes: [1, 1], verdict: "followed" },
    { direction: "B to A", until: [0, 1], changes: [0, 1], verdict: "followed" },
  ]);
  expect(withSettled(rows, [finding]).map(({ settled }) => settled)).toEqual(
    [1, 2].flatMap(() => [
      ...Array(4).fill("offer"),
      ...Array(4).fill("none"),
      ...Array(6).fill("offer"),
      ...Array(6).fill("none"),
    ]),
  );
  expect(reportOf([finding])).toContain("2 asked for another answer: 2 were followed within 2 navigations.");
});

it("one client that takes longer, or never settles, is not followed", () => {
  const finding = findingOf("loss", "cubic", [
    ...visit(1, "----", "---HHH", "------"),
    ...visit(2, "----", "-HHHHH", "H-H--H"),
  ]);
  expect(finding.followings).toEqual([
    { direction: "A to B", until: [3, 1], changes: [1, 1], verdict: "not followed" },
    { direction: "B to A", until: [0, null], changes: [0, 4], verdict: "not followed" },
  ]);
  expect(reportOf([finding])).toContain("**2 were not**");
  expect(reportOf([finding])).toMatch(/\| +B to A \|.*\| +0, never \| +0, 4 \| +not followed \|/);
});

it("a policy that holds on to the path before does not hide it: clients that know B alone tell", () => {
  const finding = findingOf("loss", "cubic", visit(1, "----", "------", "------", "-HHH"));
  expect(finding.settledB.offers).toBe(true);
  expect(finding.followings.map(({ verdict }) => verdict)).toEqual(["not followed", "followed"]);
});

it("where either answer is right, a client that keeps the one it has is not one that was not followed", () => {
  const rows = visit(1, "----", "------", "------", "HHHH");
  const verdicts = (eitherIsRight: (row: NavigationRow) => boolean) =>
    findingOf("rate", "cubic", rows, eitherIsRight).followings.map(({ verdict }) => verdict);
  expect(verdicts(() => false)).toEqual(["not followed", "followed"]);
  expect(verdicts(({ stretch }) => stretch === "B")).toEqual(["within the margin", "followed"]);
  expect(verdicts(({ stretch }) => stretch === "A1")).toEqual(["not followed", "followed"]);
});

it("says plainly where there is nothing to follow, or nothing settles", () => {
  const same = findingOf("rtt", "bbr", visit(1, "----", "------", "------"));
  expect(same.followings.map(({ verdict }) => verdict)).toEqual(["nothing to follow", "nothing to follow"]);
  const never = findingOf("rate", "bbr", [
    ...visit(1, "----", "HHHHHH", "------"),
    ...visit(2, "----", "------", "------"),
  ]);
  expect(never.settledB.offers).toBeNull();
  expect(never.followings.map(({ verdict }) => verdict)).toEqual(["never settled", "never settled"]);
  expect(never.followings[0]?.until).toEqual([null, null]);
  const report = reportOf([same, never]);
  expect(report).toContain("in 2 there was **nothing to follow**");
  expect(report).toContain("in 2 no answer settled");
});

it("counts the navigations that failed", () => {
  const rows = visit(1, "----", "------", "------").map((row) =>
    row.stretch === "A1" && row.number === 2 ? { ...row, outcome: "failed" as const, loadMs: null } : row,
  );
  expect(reportOf([findingOf("loss", "cubic", rows)])).toContain("1 navigations failed or timed out.");
});
