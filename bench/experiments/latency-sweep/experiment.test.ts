import { describe, expect, it } from "vitest";
import { seriesCells } from "../../analysis/loads/series-cells.ts";
import { exampleInput, exampleLoads, reportOf } from "../../harness/loads/testing.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { experiment as sweepExperiment, latencySweep } from "./experiment.ts";

/** As many round trips as each way takes. */
function returningLoads(cell: Cell): LoadRow[] {
  const roundTripMs = 2 * cell.network.delayMs;
  return [
    ...exampleLoads(cell, "fixed-h2", "resumed", 3 * roundTripMs),
    ...exampleLoads(cell, "fixed-h3", "resumed", 2 * roundTripMs),
    ...exampleLoads(cell, "early-h3", "resumed", 2 * roundTripMs),
    ...exampleLoads(cell, "early-h3", "early", roundTripMs),
  ];
}

describe("series", () => {
  const experiment = latencySweep({ congestions: ["cubic"], bytes: undefined, size: "usual" });
  // HTTP/2 takes 2 ms a millisecond of delay, HTTP/3 one, from 100 ms behind: they meet at 100 ms.
  const rows = experiment.cells.flatMap((cell) => {
    const flow = cell.images === undefined ? "download" : "trained";
    const returning = cell.network.name.startsWith("returning");
    return [
      ...(returning ? returningLoads(cell) : []),
      // A round trip more.
      ...exampleLoads(cell, "retry-h3", flow, 1100 + 3 * cell.network.delayMs),
      ...exampleLoads(cell, "fixed-h2", flow, 1000 + 2 * cell.network.delayMs, { tcpPacketsLost: 3 }),
      ...exampleLoads(cell, "fixed-h3", flow, 1100 + cell.network.delayMs, { quicPacketsLost: 5 }),
    ];
  });

  it("finds the crossover and the growth that were put in, for both readings of the delay", () => {
    const { sweep } = sweepExperiment.definition.summarise(exampleInput(experiment, rows));
    expect(sweep.map(({ series }) => series)).toEqual(["delay", "rtt", "retry", "window"]);
    expect(sweep[2]?.crossover.x).toBeUndefined();
    expect(sweep[0]?.crossover.x).toBeCloseTo(100, 0);
    expect(sweep[0]?.growthMs.h2.estimate).toBeCloseTo(100, 0);
    expect(sweep[1]?.growthMs.h2.estimate).toBeCloseTo(50, 0);
  });

  it("has a picture and tables for each, every measured place, and the published beside its own", async () => {
    const { markdown, pictures, summary } = await reportOf(
      "latency-sweep",
      sweepExperiment,
      exampleInput(experiment, rows),
    );
    const { series = [] } = experiment;
    expect(pictures.map(({ file }) => file)).toEqual(series.map(({ id }) => `ratio-${id}.svg`));
    for (const { file } of pictures) expect(markdown).toContain(`](${file})`);
    expect(markdown).toMatch(/\| 50 +\| +2,166 \| 2,160 \| +1\.00 \| +1,100 \| 1,150 \| 0\.96 \(/);
    expect(markdown).toMatch(/\| 0 +\| +h2 cubic \| +1 MB \| +10 \|.*\| +3\.00 \|/);
    const { cells } = summary;
    const shown = new Set(cells.map(({ cell }) => cell));
    const inSeries = experiment.cells.map(({ id }) => id).filter((id) => !id.startsWith("returning"));
    expect([...shown].toSorted()).toEqual(inSeries.toSorted());
    expect(markdown).not.toMatch(/NaN|undefined|Infinity/);
  });

  it("tells what a client gains that was here before, in round trips", async () => {
    const { summary, markdown } = await reportOf("latency-sweep", sweepExperiment, exampleInput(experiment, rows));
    const { returning } = summary;
    expect(new Set(returning.map(({ delayMs }) => delayMs))).toEqual(new Set([50, 100, 150]));
    const early = returning.find(({ way, delayMs }) => way === "h3, 0-RTT" && delayMs === 100);
    // 200 ms are a round trip there; HTTP/2 takes three of them once it resumes.
    expect(early).toMatchObject({ n: 10 });
    expect(early?.roundTrips).toBeCloseTo(1, 5);
    expect(early?.ratio?.estimate).toBeCloseTo(3, 1);
    expect(returning.find(({ way }) => way === "h2, resumed")?.ratio).toBeUndefined();
    expect(markdown).toMatch(/\| cubic, 100 ms +\| +h3, 0-RTT +\|/);
    const few = rows.filter(({ flow, round }) => flow !== "early" || round < 4);
    expect((await reportOf("latency-sweep", sweepExperiment, exampleInput(experiment, few))).markdown).not.toContain(
      "here before",
    );
  });

  it("makes no ratio of a handful of loads", () => {
    const few = rows.filter(({ cell, round, arm }) => cell !== "delay-0-cubic" || arm === "fixed-h2" || round < 4);
    const at = (from: typeof rows) => seriesCells(experiment, from, 1).find(({ cell }) => cell === "delay-0-cubic");
    expect(at(rows)?.ratio?.estimate).toBeCloseTo(1000 / 1100, 2);
    expect(at(few)?.ratio).toBeUndefined();
  });
});
