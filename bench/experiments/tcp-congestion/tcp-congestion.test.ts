import { describe, expect, it } from "vitest";
import { experiment as congestion, tcpCongestion } from "./experiment.ts";
import { loadsOf } from "../../model/load-experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { congestionSummary } from "./report.ts";
import { exampleInput, exampleLoads, exampleOptions, reportOf } from "../../harness/loads/testing.ts";

const experiment = tcpCongestion(exampleOptions());

/** Every load of a cell and arm takes about as long as this says, seconds. */
function input(secondsOf: (cell: string, arm: string) => number): LoadsRecorded {
  const rows = experiment.cells.flatMap((cell) =>
    loadsOf(experiment, cell).flatMap(({ arm, flow }) =>
      exampleLoads(cell, arm, flow, 1_000 * secondsOf(cell.id, arm)),
    ),
  );
  const windows = [1, 2].flatMap((connection) =>
    [0, 50, 1e9].map((atMs) => ({
      id: "beta-0.3/fixed-h1/trained/0",
      startedMs: 1e12,
      connection,
      atMs,
      windowBytes: 1_000 * connection + atMs,
    })),
  );
  return { ...exampleInput(experiment, rows), windows };
}

const summaryOf = congestionSummary;

describe("the report of TCP's windows", () => {
  it("finds what was put in, and what was published against it", async () => {
    const { findings, ways } = summaryOf(
      input((cell, arm) => (cell === "beta-0.1" ? 10 : cell === "beta-0.3" && arm === "fixed-h2" ? 30 : 20)),
    );
    const said = (of: string) => findings.find((one) => one.of === of);
    expect(said("beta 0.3's time over 0.1's")?.ratio?.estimate).toBeCloseTo(3, 3);
    expect(said("beta 0.3's time over 0.1's")?.verdict).toBe("Holds");
    // Published as slower, and faster here.
    expect(said("beta 0.3's time over 0.2's")).toMatchObject({ verdict: "Does not hold" });
    expect(said("HTTP/2's time over HTTP/1.1's on six connections, far-clean at 100 Mbit/s")?.verdict).toBe("Holds");
    expect(said("HTTP/2's time over HTTP/1.1's on six connections, far and lossy")?.verdict).toBe("Holds");
    // Of both connections together, and of nothing after the load's end.
    expect(ways.find(({ cell, arm }) => cell === "beta-0.3" && arm === "fixed-h1")?.traced).toEqual({
      loadMs: 20_200,
      meanWindowBytes: 3_050,
    });
  });

  it("names every way once in the table, and in the picture what was traced", async () => {
    const { markdown, pictures } = await reportOf(
      "tcp-congestion",
      congestion,
      input(() => 20),
    );
    expect(markdown).not.toMatch(/NaN|undefined|Infinity/);
    for (const name of [
      "HTTP/1.1 on six, cubic",
      "HTTP/2, cubic, beta 0.02",
      "HTTP/2, cubic, from 1,000 packets",
      "HTTP/2, cubic, beta 0.2, not fair to Reno",
      "HTTP/3",
    ]) {
      // In the table of all ways, and nowhere else in a row's first column.
      expect(markdown.split("\n").filter((line) => line.startsWith(`| ${name} `))).toHaveLength(1);
    }
    expect(pictures[0]?.svg).toContain(">HTTP/1.1 on six, cubic<");
  });
});
