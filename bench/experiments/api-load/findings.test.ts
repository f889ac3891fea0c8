import { format } from "prettier";
import { expect, it } from "vitest";
import { exampleRows, exampleSummary } from "../../harness/loopback/testing.ts";
import { reportText } from "../../harness/results.ts";
import { experiment } from "./experiment.ts";
import { API_CALLERS } from "./mix.ts";
import { SUBJECTS } from "./subjects.ts";

const reportOf = (factors: Readonly<Record<string, number>>, rounds: number): string => {
  const rows = exampleRows(SUBJECTS, rounds, ({ name }) => factors[name] ?? 1);
  return reportText("api-load", experiment.report(exampleSummary(SUBJECTS, rows, rounds), {} as never));
};

it("the report has the ratios and every caller, and is Markdown as Prettier writes it", async () => {
  const report = reportOf({ "pages-under-api": 1.5, "decide-1": 2, "decide-100": 4 }, 9);
  expect(report).toContain("1.50 (1.50 to 1.50)");
  expect(report).toMatch(/`POST decisions` of 100 paths .*\| +4\.00 \(4\.00 to 4\.00\)/);
  for (const title of ["explain, by client", "PUT activation", "POST policies", "a wrong token"])
    expect(report).toContain(title);
  expect(report.match(/\| pages, beside operators and decisions \| +\d+ \|/g)).toHaveLength(API_CALLERS.length);
  expect(report).toContain("Nothing that was looked for.");
  expect(report).not.toMatch(/NaN|undefined|Infinity/);
  expect(await format(report, { parser: "markdown", printWidth: 120 })).toBe(report);
});

it("the report multiplies answers by the paths that each decides", () => {
  const report = reportOf({}, 1);
  expect(report).toMatch(/of 1 path .*\| +5,000 \(5,000 to 5,000\) +\| +5,000 \(5,000 to 5,000\) +\|/);
  expect(report).toMatch(/of 100 paths .*\| +5,000 \(5,000 to 5,000\) +\| +500,000 \(500,000 to 500,000\) +\|/);
});
