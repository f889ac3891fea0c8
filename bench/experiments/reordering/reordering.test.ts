import { describe, expect, it } from "vitest";
import { exampleInput, exampleLoads, exampleOptions, reportOf } from "../../harness/loads/testing.ts";
import { experiment, reordering } from "./experiment.ts";
import { seemsClean } from "./findings.ts";

const quick = reordering(exampleOptions("--quick", "--congestion", "cubic"));

describe("reordering", () => {
  it("has 0.1 to 5 % of packets late by 1 to 20 ms, and drops none", () => {
    const { cells } = reordering(exampleOptions());
    const lates = cells.flatMap(({ network: { late } }) => (late !== undefined && late.share > 0 ? [late] : []));
    expect([Math.min(...lates.map(({ share }) => share)), Math.max(...lates.map(({ share }) => share))]).toEqual([
      0.001, 0.05,
    ]);
    expect([Math.min(...lates.map(({ byMs }) => byMs)), Math.max(...lates.map(({ byMs }) => byMs))]).toEqual([1, 20]);
    expect(cells.every(({ network: { lossRatio } }) => lossRatio === 0)).toBe(true);
  });

  it.each([
    ["nothing seems lost", 0, true],
    ["2 % seem lost over HTTP/3 alone", 5, false],
  ])("%s", async (_name, lost, clean) => {
    const rows = quick.cells.flatMap((cell) => [
      ...exampleLoads(cell, "fixed-h2", "download", 100, { tcpPacketsSent: 220, tcpPacketsLost: 0 }),
      ...exampleLoads(cell, "fixed-h3", "download", 100, { quicPacketsSent: 250, quicPacketsLost: lost }),
    ]);
    const { summary, markdown } = await reportOf("reordering", experiment, exampleInput(quick, rows));
    expect(summary.places.map(seemsClean)).toEqual(quick.cells.map(() => clean));
    expect(summary.places.map(({ misjudged }) => misjudged)).toEqual(quick.cells.map(() => (clean ? 0 : 2)));
    expect(markdown).not.toMatch(/NaN|undefined/);
  });

  it("says nothing where nothing was measured", async () => {
    const { summary } = await reportOf("reordering", experiment, exampleInput(quick, []));
    expect(summary.places.map(seemsClean)).toEqual(quick.cells.map(() => undefined));
  });
});
