import { describe, expect, it } from "vitest";
import { exampleInput, exampleLoads, reportOf } from "../../harness/loads/testing.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { experiment as grid } from "./experiment.ts";
import { gridCells, zeroLinesOf } from "./report.ts";

describe("the grid", () => {
  const cells: Cell[] = [0, 0.02].flatMap((lossRatio) =>
    [0, 10].map((delayMs) => ({
      id: `50-${lossRatio}-${delayMs}-cubic`,
      network: { name: "", rateMbps: 50, delayMs, lossRatio, queueBytes: 1 },
      congestion: "cubic",
      imageBytes: 1_000_000,
    })),
  );
  const experiment: LoadExperiment = {
    loads: [
      { arm: "fixed-h2", flow: "download" },
      { arm: "fixed-h3", flow: "download" },
    ],
    cells,
    allocation: { first: 5, cap: 10, comparisons: [] },
    timeoutMs: 60_000,
    notes: [],
  };
  // HTTP/3 takes 100 ms everywhere, HTTP/2 half without loss and twice with it.
  const rows = cells.flatMap((cell) => [
    ...exampleLoads(cell, "fixed-h2", "download", cell.network.lossRatio === 0 ? 50 : 200),
    ...exampleLoads(cell, "fixed-h3", "download", 100, {
      quicRttMs: 2 * cell.network.delayMs + 1,
      quicPacketsSent: 1000,
      quicPacketsLost: 1000 * cell.network.lossRatio,
    }),
  ]);

  it("finds the winners, and the line between them half-way", () => {
    const found = gridCells(experiment, rows, 1);
    expect(found.map(({ winner }) => winner)).toEqual(["h2", "h2", "h3", "h3"]);
    const heights = zeroLinesOf(found).flatMap((line) => line.map(({ y }) => y));
    for (const y of heights) expect(y).toBeCloseTo(1, 1);
  });

  it("says of a cell without enough loads what they took, and counts it apart", async () => {
    const busy = rows.map((row) =>
      row.cell === cells[0]?.id && row.arm === "fixed-h3" ? { ...row, dropped: "busy" as const } : row,
    );
    expect(gridCells(experiment, busy, 1)[0]?.winner).toBeUndefined();
    const { markdown } = await reportOf("ohashi-grid", grid, exampleInput(experiment, busy));
    expect(markdown).toContain("busy: 50.0 / 100 ms");
    expect(markdown).not.toMatch(/undefined|NaN|\[object/);
  });
});
