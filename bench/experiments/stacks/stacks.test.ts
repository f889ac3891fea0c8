import { describe, expect, it } from "vitest";
import { loadsOf } from "../../model/load-experiment.ts";
import { experiment as stacksExperiment, stacks } from "./experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { movedBy, stacksSummary, type StackZero } from "./report.ts";
import { exampleInput, exampleLoads, exampleOptions, reportOf } from "../../harness/loads/testing.ts";

const experiment = stacks(exampleOptions());

/** Every load takes about as long as this says, milliseconds. */
function input(msOf: (arm: string, congestion: string, lossRatio: number) => number): LoadsRecorded {
  const rows = experiment.cells.flatMap((cell) =>
    loadsOf(experiment, cell).flatMap(({ arm, flow }) =>
      exampleLoads(cell, arm, flow, msOf(arm, cell.congestion, cell.network.lossRatio)),
    ),
  );
  return exampleInput(experiment, rows);
}

const summaryOf = stacksSummary;

describe("the report of QUIC stacks", () => {
  // HTTP/2 takes 100 ms, quic-go 50 more for each percent of loss and begins at 50, quiche is always twice as fast as HTTP/2.
  const known = input((arm, _congestion, lossRatio) =>
    arm === "fixed-h2" ? 100 : arm === "fixed-h3" ? 50 + 5_000 * lossRatio : 50,
  );

  it("makes a stack's loads once, and sets them beside every TCP", async () => {
    const made = new Set(
      experiment.cells.flatMap((cell) => loadsOf(experiment, cell).map(({ arm }) => `${cell.id} ${arm}`)),
    );
    expect(made.has("5-cubic quiche-cubic")).toBe(true);
    expect(made.has("5-bbr quiche-cubic")).toBe(false);
    const { cells } = summaryOf(known);
    expect(cells).toHaveLength(9 * 2 * 3);
    for (const cell of cells.filter(({ stack }) => stack === "quiche-cubic"))
      expect(cell.ratio?.estimate).toBeCloseTo(2, 3);
  });

  it("finds the loss at which both are equal, and says where one is faster everywhere", async () => {
    const { zeros } = summaryOf(known);
    const at = (stack: string): StackZero | undefined =>
      zeros.find((zero) => zero.stack === stack && zero.congestion === "bbr" && zero.delayMs === 25);
    expect(at("fixed-h3")?.zero.x).toBeCloseTo(1, 5);
    // HTTP/3 is ahead below, HTTP/2 beyond.
    expect(at("fixed-h3")).toMatchObject({ beyond: "HTTP/2", changes: 1 });
    expect(at("quiche-bbr2")).toMatchObject({ beyond: "HTTP/3", changes: 0 });
    const { markdown } = await reportOf("stacks", stacksExperiment, known);
    expect(markdown).toContain("HTTP/2 from 1.00 %");
    expect(markdown).toContain("HTTP/3 everywhere");
  });

  it("counts the networks that change sides", async () => {
    const { cells } = summaryOf(known);
    // quic-go wins without loss only.
    expect(movedBy(cells, "quiche-cubic", "cubic")).toEqual({ moved: 6, of: 9 });
    expect(movedBy(cells, "fixed-h3", "cubic")).toEqual({ moved: 0, of: 9 });
  });

  it("has a picture for each TCP, and no figure that is none", async () => {
    const { markdown, pictures } = await reportOf("stacks", stacksExperiment, known);
    expect(markdown).not.toMatch(/NaN|undefined|Infinity/);
    expect(pictures.map(({ file }) => file)).toEqual(["ratio-cubic.svg", "ratio-bbr.svg"]);
    for (const { file, svg } of pictures) {
      expect(markdown).toContain(`](${file})`);
      for (const name of ["quic-go", "quiche cubic", "quiche bbr2"]) expect(svg).toContain(`>${name}<`);
    }
  });
});
