import { expect, it } from "vitest";
import { exampleRows, exampleSummary } from "./testing.ts";
import { reportText } from "../../harness/run.ts";
import { experiment } from "./experiment.ts";
import { stepsTable } from "./report.ts";

const FACTORS = { "pass-through": 2, adaptive: 5, nginx: 0.5 };
const ROWS = exampleRows(3, FACTORS);
const SUMMARY = exampleSummary(ROWS, 3, { nginx: "1.22.1", njs: "0.7.9", caddy: "2.6.2 (go1.19.8)" });

it("says what each arm adds to the one that does the next less", () => {
  const table = stepsTable(SUMMARY);
  // The example has one factor for each arm, in every figure and round: 5 for this one, and 1 for the one beside it.
  expect(table).toMatch(/\| 10 kB, this worker, a page under `adaptive` +\| .*`fixed-h3` \| +0\.20 .* 5\.00 .* 5\.00 /);
  expect(table).toMatch(/\| 1 MB, this worker, a subresource.* \| +a worker that only passes on \| +2\.00 /);
  expect(table).not.toMatch(/NaN|undefined/);
});

it("the report has every load and every arm", () => {
  const report = reportText("overhead", experiment.report(SUMMARY, {} as never));
  for (const title of ["10 kB, closed", "1 MB, closed", "10 kB, open", "1 MB, open"])
    expect(report).toContain(`## ${title} loop`);
  expect(report).toContain("nginx 1.22.1 with njs 0.7.9, Caddy 2.6.2 (go1.19.8), node");
  expect(report).toMatch(/## Whose price it is\n[^#]*\| 1 MB, nginx that decides by RTT in njs, no worker +\|/);
  expect(report).toContain("Caddy instead of the edge");
  expect(report).toContain("nginx instead of the edge");
  expect(report).not.toMatch(/NaN|undefined|Infinity/);
});

it("a machine without nginx has a report too, which says so", () => {
  const rows = ROWS.filter(({ arm }) => !["nginx", "njs", "caddy"].includes(arm));
  const tools = { nginx: null, njs: null, caddy: null };
  const report = reportText("overhead", experiment.report(exampleSummary(rows, 3, tools), {} as never));
  expect(report).toContain("nginx not to be had: its arm is left out");
  expect(report).toContain("Caddy could not be had");
  expect(report).not.toMatch(/nginx instead of the edge|Whose price|njs:|Caddy \(/);
});

it("a run that was recorded before njs and Caddy were measured has the report that it had", () => {
  const rows = ROWS.filter(({ arm }) => arm !== "njs" && arm !== "caddy");
  const report = reportText("overhead", experiment.report(exampleSummary(rows, 3, { nginx: "1.22.1" }), {} as never));
  expect(report).toContain("nginx 1.22.1, node");
  expect(report).not.toMatch(/njs|Caddy|Whose price/);
  expect(report).not.toContain("\n\n\n");
});
