import { describe, expect, it } from "vitest";
import { EXAMPLE_MACHINE } from "../../model/testing-machine.ts";
import { reportText } from "../../harness/run.ts";
import { memoryReport, type MemoryRow, type MemorySummary, memorySummary } from "./report.ts";
import { residentBytes, skmemBytes, statusBytes } from "../../lab/cores.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";

const MIB = 1024 * 1024;

/** Crowds whose edge takes 20 MiB, and so many KiB a client more. */
function rowsOf(protocol: "h2" | "h3", edgeKiB: number, socketsKiB: number): MemoryRow[] {
  return [1, 101].flatMap((clients) =>
    [0, 1, 2, 3].map((round) => ({
      id: `${protocol}/${clients}/${round}`,
      protocol,
      clients,
      round,
      startedMs: 1e12,
      seconds: 2,
      edgePeakBytes: 20 * MIB + clients * edgeKiB * 1024 + (round % 2 === 0 ? 1 : -1) * 1024,
      socketPeakBytes: clients * socketsKiB * 1024,
      serverPeakBytes: 20 * MIB + clients * (edgeKiB + socketsKiB) * 1024,
      clientPeakBytes: 100 * MIB + clients * 200 * 1024,
    })),
  );
}

const ROWS = [...rowsOf("h2", 100, 400), ...rowsOf("h3", 500, 0)];

const STARTS = ["abc", "def"].map((commit) => ({
  at: "2026-01-01T00:00:00.000Z",
  lanes: 1,
  rowsBefore: 0,
  machine: { ...EXAMPLE_MACHINE, commit },
}));

function summaryOf(rows: readonly MemoryRow[]): MemorySummary {
  return memorySummary({ rows, command: "npm run bench -- memory", starts: STARTS }, 4);
}

describe("reading", () => {
  it("takes a process's resident memory, in bytes", () => {
    expect(statusBytes("Name:\tedge\nVmHWM:\t  9999 kB\nVmRSS:\t   2048 kB\nThreads:\t9\n")).toBe(2 * MIB);
    expect(statusBytes("Name:\tzombie\n")).toBe(0);
    expect(residentBytes(process.pid)).toBeGreaterThan(10 * MIB);
    expect(residentBytes(2 ** 30)).toBe(0);
  });

  it("takes what the kernel holds for a namespace's sockets: what is received, set aside, and sent", () => {
    const tcp =
      "ESTAB 0 0 192.0.2.1:8000 10.0.1.1:4000\t skmem:(r100,rb131072,t20,tb87040,f3000,w5000,o0,bl0,d0)\n" +
      "ESTAB 0 0 192.0.2.1:8000 10.0.2.1:4000 skmem:(r0,rb131072,t0,tb87040,f0,w700,o0,bl0,d1)\n";
    expect(skmemBytes(tcp)).toBe(100 + 3000 + 5000 + 700);
    expect(skmemBytes("UNCONN 0 0 *:8000 *:* skmem:(r10,rb1,t2304,tb1,f0,w0,o0,bl0,d0)")).toBe(10 + 2304);
    expect(skmemBytes("")).toBe(0);
  });
});

describe("the summary", () => {
  const summary = summaryOf(ROWS);

  it("says what a client more takes, and how the protocols compare", () => {
    const estimates = summary.perClient.map(({ protocol, edgeKiB, serverKiB, clientKiB }) => [
      protocol,
      ...[edgeKiB, serverKiB, clientKiB].map(({ estimate }) => Math.round(estimate)),
    ]);
    expect(estimates).toEqual([
      ["h2", 100, 500, 200],
      ["h3", 500, 500, 200],
    ]);
    expect(summary.serverRatio.estimate).toBeCloseTo(1, 2);
    expect(summary.edgeRatio.estimate).toBeCloseTo((20 * 1024 + 101 * 500) / (20 * 1024 + 101 * 100), 2);
    expect(summary.crowds.map(({ clients, protocol, n }) => [clients, protocol, n])).toEqual([
      [1, "h2", 4],
      [1, "h3", 4],
      [101, "h2", 4],
      [101, "h3", 4],
    ]);
  });

  it("makes a report and a picture of it, also of a single round", async () => {
    for (const given of [summary, summaryOf(ROWS.filter(({ round }) => round === 0))]) {
      const report = memoryReport(given);
      expect(reportText("memory", report)).not.toMatch(/NaN|undefined|Infinity|null/);
      for (const { spec } of report.pictures ?? []) expect(await renderSvg(spec)).toContain("clients at once");
    }
    const text = reportText("memory", memoryReport(summary));
    expect(text).toContain("commit abc, def");
    expect(text).toMatch(/\| 101 +\| +h3 \| +4 \| +69\.3/);
  });
});
