import { describe, expect, it } from "vitest";
import { evaluate } from "../../analysis/evaluation/evaluation.ts";
import { exampleInput, exampleLoads, reportOf } from "../../harness/loads/testing.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { experiment as evaluation } from "./experiment.ts";

describe("the evaluation", () => {
  const cell: Cell = {
    id: "5-cubic",
    network: { name: "5", rateMbps: 200, delayMs: 12.5, lossRatio: 0.025, queueBytes: 1 },
    congestion: "cubic",
    imageBytes: 1_000_000,
  };
  const arms = ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"] as const;
  const experiment: LoadExperiment = {
    loads: arms.map((arm) => ({ arm, flow: "trained" })),
    cells: [cell],
    allocation: { first: 5, cap: 10, comparisons: [] },
    timeoutMs: 60_000,
    notes: [],
  };
  const rows = [
    ...exampleLoads(cell, "fixed-h2", "trained", 1000),
    ...exampleLoads(cell, "fixed-h3", "trained", 2000),
    ...exampleLoads(cell, "always-offer", "trained", 2500, { switched: true }),
    ...exampleLoads(cell, "adaptive", "trained", 2500, { switched: true, lastProtocol: "h3" }),
    ...exampleLoads(cell, "bare", "trained", 900),
  ];

  it("finds gain and regret that were put in: always wrong, at 2.5 times the better choice", () => {
    const { gains, regrets } = evaluate(experiment, rows, 1);
    expect(gains[0]?.fixedH3?.estimate).toBeCloseTo(-0.5, 3);
    expect(gains[0]?.alwaysOffer?.estimate).toBeCloseTo(-0.6, 3);
    expect(regrets[0]?.regret).toMatchObject({ better: "stay", tie: false });
    expect(regrets[0]?.regret.total.estimate).toBeCloseTo(1.5, 2);
    expect(regrets[0]?.regret.toFreeChoice?.estimate).toBeCloseTo(1.5, 2);
  });

  it("takes decisions after a visit over either protocol together, and tells them from the draw of losses", () => {
    const both: LoadExperiment = {
      ...experiment,
      loads: [...experiment.loads, { arm: "adaptive", flow: "trained-on-h2" }],
    };
    const right = [
      ...rows.filter(({ arm }) => arm !== "adaptive").map((row) => ({ ...row, ttfbMs: 50 })),
      ...exampleLoads(cell, "adaptive", "trained", 1080, { ttfbMs: 51 }),
      ...exampleLoads(cell, "adaptive", "trained-on-h2", 1080, { ttfbMs: 51 }),
    ];
    const { regrets, cuts } = evaluate(both, right, 1);
    const found = regrets.find(({ flow }) => flow === "trained-on-either")?.regret;
    expect(found?.wrong).toMatchObject({ count: 0, n: 20 });
    // The raw means hold 8 % that no decision made; deciding itself took 1 ms of 1,000.
    expect(found?.total.estimate).toBeCloseTo(0.08, 2);
    expect(found?.expected?.estimate).toBeCloseTo(0.001, 4);
    expect(cuts[0]?.fixedH2?.estimate).toBeCloseTo(0.08, 2);
    expect(cuts[0]?.alwaysOffer?.estimate).toBeCloseTo(1080 / 2500 - 1, 2);
  });

  it("makes no ratio of a handful of loads, and shows what was left out for a busy core", async () => {
    const busy = rows.map((row) => (row.arm === "fixed-h3" ? { ...row, dropped: "busy" as const } : row));
    const { gains, regrets } = evaluate(experiment, busy, 1);
    expect(gains[0]).toMatchObject({ fixedH3: null });
    expect(regrets).toEqual([]);
    const { markdown } = await reportOf("ohashi-evaluation", evaluation, exampleInput(experiment, busy));
    expect(markdown).toContain("busy: 2,000");
    expect(markdown).toContain("not comparable");
    expect(markdown).toContain("of which 40 count");
  });

  it("names every picture that it makes, and only text and figures that are", async () => {
    const { markdown, pictures } = await reportOf("ohashi-evaluation", evaluation, exampleInput(experiment, rows));
    for (const { file, svg } of pictures) {
      expect(markdown).toContain(`(${file})`);
      expect(svg).toMatch(/^<svg/);
    }
    expect(markdown).not.toMatch(/undefined|NaN|\[object/);
  });
});
