import { describe, expect, it } from "vitest";
import { memoryPicture, memoryReport } from "./report.ts";
import { residentBytes, sockstatBytes, statusBytes } from "./reading.ts";
import type { MemoryRow } from "./row.ts";
import { memorySummary } from "./summary.ts";
import { renderSvg } from "../report/chart.ts";

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
      edgeBeforeBytes: 20 * MIB,
      edgePeakBytes: 20 * MIB + clients * edgeKiB * 1024 + (round % 2 === 0 ? 1 : -1) * 1024,
      clientPeakBytes: 100 * MIB + clients * 200 * 1024,
      socketPeakBytes: clients * socketsKiB * 1024,
    })),
  );
}

describe("reading", () => {
  it("takes a process's resident memory, in bytes", () => {
    expect(statusBytes("Name:\tedge\nVmHWM:\t  9999 kB\nVmRSS:\t   2048 kB\nThreads:\t9\n")).toBe(2 * MIB);
    expect(statusBytes("Name:\tzombie\n")).toBe(0);
    expect(residentBytes(process.pid)).toBeGreaterThan(10 * MIB);
    expect(residentBytes(2 ** 30)).toBe(0);
  });

  it("takes what the kernel holds for sockets, which it counts in pages", () => {
    const text = "sockets: used 9\nTCP: inuse 4 orphan 0 tw 1 alloc 6 mem 3\nUDP: inuse 2 mem 7\nUDPLITE: inuse 0\n";
    expect(sockstatBytes(text)).toEqual({ tcp: 3 * 4096, udp: 7 * 4096 });
    expect(() => sockstatBytes("sockets: used 9\n")).toThrow("no memory of TCP");
  });
});

describe("the summary", () => {
  const summary = memorySummary([...rowsOf("h2", 100, 400), ...rowsOf("h3", 500, 0)], 1);

  it("says what a client more takes, and how the protocols compare", () => {
    expect(summary.perClient.map(({ protocol, edgeKiB }) => [protocol, Math.round(edgeKiB)])).toEqual([
      ["h2", 100],
      ["h3", 500],
    ]);
    expect(summary.perClient[0]?.socketsKiB).toBeCloseTo(400, 0);
    expect(summary.perClient[1]?.clientKiB).toBeCloseTo(200, 0);
    expect(summary.edgeRatio?.estimate).toBeCloseTo((20 * 1024 + 101 * 500) / (20 * 1024 + 101 * 100), 2);
    expect(summary.crowds.map(({ clients, protocol, n }) => [clients, protocol, n])).toEqual([
      [1, "h2", 4],
      [1, "h3", 4],
      [101, "h2", 4],
      [101, "h3", 4],
    ]);
  });

  it("makes a report and a picture of it, also of a single round", async () => {
    const machine = { kernel: "6", arch: "x64", cpu: "cpu", cores: 2, memoryGiB: 8, go: "go1", quicGo: "v0", k6: "v1" };
    const about = {
      command: "npm run bench -- memory",
      day: "2026-01-01",
      rounds: 4,
      machine: { ...machine, workerd: "1", node: "v24", commit: "abc" },
      bytes: 1e6,
      rateMbps: 100,
      delayMs: 25,
      queueBytes: 1.5e6,
    };
    const one = memorySummary(
      rowsOf("h2", 100, 400).filter(({ round }) => round === 0),
      1,
    );
    for (const given of [summary, one]) {
      const text = memoryReport(about, given);
      expect(text).not.toMatch(/NaN|undefined|Infinity|null/);
      expect(await renderSvg(memoryPicture(given))).toContain("clients at once");
    }
    expect(memoryReport(about, summary)).toMatch(/\| 101 +\| +h3 \| +4 \| +69\.3/);
  });
});
