import { format } from "prettier";
import { describe, expect, it } from "vitest";
import type { Loop } from "../../model/request-plan.ts";
import { API_CALLERS, type Caller } from "./mix.ts";
import { reportText } from "../../harness/results.ts";
import { apiLoadValues, shortfalls } from "./findings.ts";
import type { ApiLoadRow } from "./row.ts";
import { measurements } from "./schedule.ts";
import { type Subject, SUBJECT_SETUPS, SUBJECTS } from "./subjects.ts";
import { type ApiLoadSummary, type SubjectResult, summarizeApiLoad } from "./summary.ts";
import { exampleApiLoadRow } from "./testing.ts";

const MACHINE: ApiLoadSummary["machine"] = {
  kernel: "6",
  arch: "x64",
  cpu: "a CPU",
  cores: 2,
  memoryGiB: 8,
  go: "go1.26",
  quicGo: "v0",
  k6: "v1",
  workerd: "1",
  node: "v24",
  commit: "abc",
};

/** Rounds of a machine that gets slower, alike for all: each subject's ratio is its factor in every round. */
function rowsOf(rounds: number, factors: Partial<Record<Subject, number>>): ApiLoadRow[] {
  const subjects = measurements(rounds, 1).map(({ loop, subject, round }) => {
    const slow = (round + 1) * (factors[subject] ?? 1);
    return exampleApiLoadRow({
      loop,
      subject,
      round,
      rate: loop === "open" ? 500 : null,
      requestsPerSecond: loop === "open" ? 500 : 1000 / slow,
      latencyMedianMs: slow,
      latencyP99Ms: 3 * slow,
      workerdCpuUs: 200 * slow,
    });
  });
  const callers = Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
    SUBJECTS.flatMap((beside) =>
      SUBJECT_SETUPS[beside].callers.map((caller) => `${caller} beside ${beside}` as const),
    ).map((subject) =>
      exampleApiLoadRow({
        loop: "open",
        subject,
        round,
        rate: 5,
        latencyMedianMs: round + 1,
        workerdCpuUs: null,
      }),
    ),
  );
  return [...subjects, ...callers];
}

function summaryOf(rows: readonly ApiLoadRow[], rounds: number): ApiLoadSummary {
  const options = { rounds, seconds: 1, seed: 1 };
  return summarizeApiLoad({ rows, command: "npm run bench -- api-load", options, machine: MACHINE });
}

const FACTORS = { "pages-under-api": 1.5, "decide-1": 2, "decide-100": 4 } as const;

describe("summarizeApiLoad", () => {
  const summary = summaryOf(rowsOf(3, FACTORS), 3);
  const result = (loop: Loop, subject: Subject): SubjectResult | undefined =>
    summary.results.find((one) => one.loop === loop && one.subject === subject);

  it("holds visitors with callers against visitors without, in the same round", () => {
    expect(result("open", "pages-under-api")?.figures.latencyMedianMs).toEqual({
      median: 3,
      low: 2.25,
      high: 3.75,
      ratio: { median: 1.5, low: 1.5, high: 1.5, interval: [1.5, 1.5] },
    });
    expect(result("open", "pages-under-api")?.figures.latencyP99Ms?.ratio.median).toBe(1.5);
  });

  it("holds decisions against what passes untouched", () => {
    expect(result("open", "decide-100")?.figures.latencyP99Ms?.ratio.median).toBe(4);
    expect(result("closed", "decide-1")?.figures.requestsPerSecond?.ratio.median).toBe(0.5);
    expect(result("closed", "decide-1")?.figures.workerdCpuUs?.ratio.median).toBe(2);
  });

  it("says how much a core does, and how much of one was used", () => {
    // 200, 400, 600 us of workerd an answer, at 500 a second.
    expect(result("open", "pass")?.answersPerCoreSecond.median).toBe(2_500);
    expect(result("open", "pass")?.workerdBusyRatio.median).toBeCloseTo(0.2);
    expect(result("closed", "pass")?.workerdBusyRatio.median).toBeCloseTo(0.2);
  });

  it("says nothing of an open loop's requests per second: they were given", () => {
    expect(result("open", "pages")?.figures.requestsPerSecond).toBeUndefined();
    expect(result("open", "pages")?.rate).toBe(500);
  });

  it("counts each measurement once: of rows that were written twice the last", () => {
    const twice = [...rowsOf(3, FACTORS), ...rowsOf(3, FACTORS)];
    expect(summaryOf(twice, 3)).toEqual(summary);
  });

  it("has every kind of caller, and is the same as JSON", () => {
    const beside = (subject: Subject): Caller[] =>
      summary.callers.filter((one) => one.beside === subject).map(({ caller }) => caller);
    expect(beside("pages-under-api")).toEqual(API_CALLERS);
    expect(beside("pages-under-requests")).toEqual(["plain"]);
    expect(beside("pages")).toEqual([]);
    expect(summary.callers[0]).toMatchObject({ rate: 5, latencyMedianMs: { median: 2 }, answers: 3, failures: 0 });
    expect(JSON.parse(JSON.stringify(summary))).toEqual(summary);
  });
});

describe("the report", () => {
  it("has the ratios and every caller, and is Markdown as Prettier writes it", async () => {
    const report = reportText("api-load", { values: apiLoadValues(summaryOf(rowsOf(9, FACTORS), 9)) });
    expect(report).toContain("1.50 (1.50 to 1.50)");
    expect(report).toMatch(/`POST decisions` of 100 paths .*\| 4\.00 \(4\.00 to 4\.00\)/);
    for (const title of ["explain, by client", "PUT activation", "POST policies", "a wrong token"])
      expect(report).toContain(title);
    expect(report).toContain("Nothing that was looked for.");
    expect(report).not.toMatch(/NaN|undefined|Infinity/);
    expect(await format(report, { parser: "markdown", printWidth: 120 })).toBe(report);
  });

  it("multiplies answers by the paths that each decides", () => {
    const report = reportText("api-load", { values: apiLoadValues(summaryOf(rowsOf(1, {}), 1)) });
    expect(report).toMatch(/of 1 path .*\| 5,000 \(5,000 to 5,000\) +\| 5,000 \(5,000 to 5,000\) +\|/);
    expect(report).toMatch(/of 100 paths .*\| 5,000 \(5,000 to 5,000\) +\| 500,000 \(500,000 to 500,000\) +\|/);
  });

  it("says what falls short: errors of visitors and callers, requests not made, late ones, other programs, few rounds", () => {
    expect(shortfalls(summaryOf(rowsOf(3, {}), 3))).toEqual([expect.stringContaining("3 rounds are too few")]);
    const rows = rowsOf(9, {}).map((row) => {
      if (row.subject === "pages-under-api")
        return { ...row, failures: 1, dropped: 2, lateP99Ms: row.round, foreignRatio: 0.2 };
      return row.subject === "push beside pages-under-api" ? { ...row, failures: 1 } : row;
    });
    const lines = shortfalls(summaryOf(rows, 9));
    expect(lines).toHaveLength(5);
    expect(lines.join("\n")).toMatch(
      /9 of 18 were not.*\n.*18 requests were not made.*\n.*more than 8\.00 ms late.*\n.*20\.0 % of the cores.*\nPOST policies, 41 kB, beside .*9 of 18/,
    );
  });
});
