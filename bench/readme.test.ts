import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../infra/setup/build.ts";
import { overheadReadmeTable } from "./overhead/readme-table.ts";
import { decisionsTable, type DecisionsSummary } from "./report/decisions-table.ts";
import { replayReadmeTable } from "./replay/readme-table.ts";
import type { ReplayTable } from "./replay/replay.ts";
import { winnersTable, type WinnersSummary } from "./report/winners-table.ts";
import type { OverheadSummary } from "./overhead/summary.ts";

it("the README says of the overhead what was recorded", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const recorded = JSON.parse(
    readFileSync(join(ROOT, "bench/results/overhead/summary.json"), "utf8"),
  ) as OverheadSummary;
  expect(readme).toContain(overheadReadmeTable(recorded));
  expect(readme).toContain(`\`${recorded.command}\``);
  expect(readme).toContain(`${recorded.rounds} rounds of ${recorded.seconds} s`);
});

it("the README says of the nine networks what was recorded", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const recorded = JSON.parse(
    readFileSync(join(ROOT, "bench/results/ohashi-evaluation/summary.json"), "utf8"),
  ) as WinnersSummary & DecisionsSummary;
  expect(readme).toContain(winnersTable(recorded));
  expect(readme).toContain(decisionsTable(recorded));
  expect(readme).toContain(`\`${recorded.command}\``);
});

it("the README says of other policies what was replayed", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const recorded = JSON.parse(readFileSync(join(ROOT, "bench/results/replay/summary.json"), "utf8")) as ReplayTable[];
  expect(readme).toContain(replayReadmeTable(recorded));
});
