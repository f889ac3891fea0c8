import { format } from "prettier";
import { describe, expect, it } from "vitest";
import { OVERHEAD_ARMS } from "../../lab/loopback-arms.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { overheadPicture } from "./picture.ts";
import { overheadReadmeTable } from "./readme-table.ts";
import { reportText } from "../../harness/results.ts";
import { overheadValues, shortfalls } from "./findings.ts";
import { LOOPS, type Size, SIZES } from "../../model/request-plan.ts";
import type { OverheadRow } from "./row.ts";
import { type OverheadSummary, summarizeOverhead } from "./summary.ts";
import { exampleOverheadRow } from "./testing.ts";

const MACHINE: OverheadSummary["machine"] = {
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
  nginx: "1.22.1",
};

/** Rounds of a machine that gets slower, alike for all arms: each arm's ratio is its factor in every round. */
function rowsOf(rounds: number, factors: Readonly<Record<string, number>>): OverheadRow[] {
  return LOOPS.flatMap((loop) =>
    (Object.keys(SIZES) as Size[]).flatMap((size) =>
      Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
        OVERHEAD_ARMS.map((arm) => {
          const slow = (round + 1) * (factors[arm] ?? 1);
          return exampleOverheadRow({
            loop,
            size,
            round,
            arm,
            rate: loop === "open" ? 500 : null,
            requestsPerSecond: 1000 / slow,
            latencyMedianMs: slow,
            latencyP99Ms: 3 * slow,
            frontCpuUs: 100 * slow,
            workerdCpuUs: arm === "bare" || arm === "nginx" ? null : 200 * slow,
          });
        }),
      ),
    ),
  );
}

function summaryOf(rows: readonly OverheadRow[], rounds = 3): OverheadSummary {
  const options = { rounds, seconds: 1, seed: 1 };
  return summarizeOverhead({
    rows,
    arms: OVERHEAD_ARMS,
    command: "npm run bench -- overhead",
    options,
    machine: MACHINE,
  });
}

describe("summarizeOverhead", () => {
  const summary = summaryOf(rowsOf(3, { "pass-through": 2, adaptive: 5, nginx: 0.5 }));
  const figures = (loop: string, arm: string) =>
    summary.results.find((result) => result.loop === loop && result.size === "small" && result.arm === arm)?.figures;

  it("takes ratios within a round, so that what slows a whole round changes none", () => {
    const adaptive = figures("open", "adaptive");
    expect(adaptive?.latencyMedianMs).toEqual({
      median: 10,
      low: 7.5,
      high: 12.5,
      ratio: { median: 5, low: 5, high: 5, interval: [5, 5] },
    });
    expect(figures("closed", "nginx")?.requestsPerSecond?.ratio.median).toBe(2);
  });

  it("holds workerd's CPU against the worker that only passes on", () => {
    expect(figures("open", "adaptive")?.workerdCpuUs?.ratio.median).toBe(2.5);
    expect(figures("open", "bare")?.workerdCpuUs).toBeUndefined();
  });

  it("says nothing of an open loop's requests per second: they were given", () => {
    expect(figures("open", "adaptive")?.requestsPerSecond).toBeUndefined();
    expect(summary.openRate).toEqual({ small: 500, large: 500 });
  });

  it("knows no interval of a single round, and is the same as JSON", () => {
    const single = summaryOf(rowsOf(1, {}), 1);
    expect(single.results[1]?.figures.latencyMedianMs?.ratio.interval).toBeNull();
    expect(JSON.parse(JSON.stringify(single))).toEqual(single);
  });
});

describe("what is made of it", () => {
  const summary = summaryOf(rowsOf(3, { "pass-through": 2, adaptive: 5, nginx: 0.5 }));

  it("README's table has the reference in figures, and is what Prettier makes of it", async () => {
    const table = overheadReadmeTable(summary);
    expect(table).toMatch(/\| the edge alone +\| 500 \/s +\| 2\.00 ms +\| 6\.00 ms +\|/);
    expect(table).toMatch(/\| a worker that only passes on .*\| 800 us +\|\n/);
    expect(table).toMatch(/`adaptive`.*\| 0\.20 \(0\.20 to 0\.20\) +\| 5\.00 .*\| 2\.50 \(2\.50 to 2\.50\) \|\n/);
    expect(await format(table, { parser: "markdown" })).toBe(table);
  });

  it("the report has every load, and the picture every arm", async () => {
    const report = reportText("overhead", { values: overheadValues(summary) });
    for (const title of ["10 kB, closed", "1 MB, closed", "10 kB, open", "1 MB, open"])
      expect(report).toContain(`## ${title} loop`);
    expect(report).not.toMatch(/NaN|undefined|Infinity/);
    const svg = await renderSvg(overheadPicture(summary));
    expect(svg).toContain("nginx instead of the edge");
    expect(svg).not.toContain("NaN");
  });

  it("says what falls short: failures, requests not made, late ones, few rounds", () => {
    expect(shortfalls(summary)).toEqual([expect.stringContaining("3 rounds are too few")]);
    const rows = rowsOf(9, {}).map((row) =>
      row.arm === "fixed-h3" && row.loop === "open" && row.size === "small"
        ? { ...row, failures: 1, dropped: 2, lateP99Ms: row.round }
        : row,
    );
    const lines = shortfalls(summaryOf(rows, 9));
    expect(lines).toHaveLength(3);
    expect(lines.join("\n")).toMatch(/9 answers of 18 .*\n.*18 requests were not made.*\n.*more than 8\.00 ms late/);
    expect(shortfalls({ ...summaryOf(rowsOf(9, {}), 9), arms: ["bare"] })).toEqual([
      expect.stringContaining("nginx could not be had"),
    ]);
  });
});
