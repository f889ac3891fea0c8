import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { type Subject, SUBJECT_SETUPS } from "../experiments/api-load/subjects.ts";
import type { ApiLoadSummary, SubjectResult } from "../experiments/api-load/summary.ts";
import { browserReadmeTable } from "../experiments/browser-page/readme-table.ts";
import type { BrowserSummary } from "../experiments/browser-page/summary.ts";
import { NOTHING } from "../analysis/statistics/round-figure.ts";
import { overheadReadmeTable } from "../experiments/overhead/readme-table.ts";
import { withQuartiles } from "../analysis/tables/format.ts";
import type { Loop } from "../model/request-plan.ts";
import { type DecisionsSummary, decisionsTable } from "./decisions-table.ts";
import { replayReadmeTable } from "./replay-table.ts";
import type { ReplayTable } from "../analysis/replay/replay.ts";
import { type WinnersSummary, winnersTable } from "./winners-table.ts";
import type { OverheadSummary } from "../experiments/overhead/summary.ts";

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

it("the README says of a real browser what was recorded", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const recorded = JSON.parse(
    readFileSync(join(ROOT, "bench/results/browser-page/summary.json"), "utf8"),
  ) as BrowserSummary;
  expect(readme).toContain(browserReadmeTable(recorded));
  expect(readme).toContain(`\`${recorded.command}\``);
});

it("the README says of other policies what was replayed", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const recorded = JSON.parse(readFileSync(join(ROOT, "bench/results/replay/summary.json"), "utf8")) as ReplayTable[];
  expect(readme).toContain(replayReadmeTable(recorded));
});

it("the README says what the API's callers cost and get as it was recorded", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8").replaceAll(/\s+/g, " ");
  const recorded = JSON.parse(
    readFileSync(join(ROOT, "bench/results/api-load/summary.json"), "utf8"),
  ) as ApiLoadSummary;
  const find = (loop: Loop, subject: Subject): SubjectResult => {
    const result = recorded.results.find((one) => one.loop === loop && one.subject === subject);
    if (result === undefined) throw new Error(`Nothing was recorded of ${subject}.`);
    return result;
  };
  const said = (subject: Subject): string =>
    withQuartiles(find("open", subject).figures.latencyMedianMs?.ratio ?? NOTHING);
  expect(readme).toContain(`is ${said("pages-under-operators")}`);
  expect(readme).toContain(`a second ${said("pages-under-api")}`);
  expect(readme).toContain(`requests ${said("pages-under-requests")}`);
  const perCore = (subject: Subject): string =>
    Math.round(find("closed", subject).answersPerCoreSecond.median * SUBJECT_SETUPS[subject].decisions).toLocaleString(
      "en-US",
    );
  expect(readme).toContain(`answers ${perCore("decide-1")} such`);
  expect(readme).toContain(`decides ${perCore("decide-100")} times`);
  expect(readme).toContain(`\`${recorded.command}\``);
});
