import { describe, expect, it } from "vitest";
import { LOSS_NODES } from "../../../policy-api/decision/loss-nodes.ts";
import { exampleInput, exampleLoads, exampleOptions, reportOf } from "../../harness/loads/testing.ts";
import { loadsOf } from "../../model/load-experiment.ts";
import { experiment, senders } from "./experiment.ts";

const usual = senders(exampleOptions());

describe("senders", () => {
  it("has each place of a gain table: every loss that is counted, at each RTT and size", () => {
    const { cells } = usual;
    const at = new Set(cells.map(({ network, imageBytes }) => `${network.lossRatio} ${network.delayMs} ${imageBytes}`));
    const [delays, sizes] = [
      new Set(cells.map(({ network }) => network.delayMs)),
      new Set(cells.map(({ imageBytes }) => imageBytes)),
    ];
    expect(Math.min(delays.size, sizes.size)).toBeGreaterThan(1);
    for (const loss of LOSS_NODES)
      for (const delayMs of delays) for (const bytes of sizes) expect(at).toContain(`${loss} ${delayMs} ${bytes}`);
  });

  it("measures each TCP by itself, and each QUIC server once at a place", () => {
    for (const own of Map.groupBy(usual.cells, ({ network }) => network.name).values()) {
      const arms = own.flatMap((cell) => loadsOf(usual, cell).map(({ arm }) => arm));
      expect(new Set(own.map(({ congestion }) => congestion)).size).toBe(own.length);
      expect(arms.filter((arm) => arm === "bare")).toHaveLength(own.length);
      for (const quic of ["bare-h3", "quiche-cubic", "quiche-bbr2"])
        expect(arms.filter((arm) => arm === quic)).toHaveLength(1);
    }
  });

  it("makes loads enough for a spread everywhere", () => {
    for (const { id } of usual.cells) expect(usual.rounds?.[id]).toBeGreaterThanOrEqual(6);
    const quick = senders(exampleOptions("--quick"));
    for (const { id } of quick.cells) expect(quick.rounds?.[id]).toBeGreaterThanOrEqual(3);
  });

  it("reports gains and times of the senders that were measured", async () => {
    const quick = senders(exampleOptions("--quick"));
    const rows = quick.cells.flatMap((cell) => {
      const { network, imageBytes } = cell;
      const at = { delayMs: network.delayMs, lossRatio: network.lossRatio, imageBytes, handshakeMs: 50 };
      return loadsOf(quick, cell).flatMap(({ arm, flow }) =>
        exampleLoads(cell, arm, flow, 300, { ...at, pagesMs: arm === "bare" ? "250;200" : "150;100" }),
      );
    });
    const { summary, markdown } = await reportOf("senders", experiment, exampleInput(quick, rows));
    expect(summary.places).toHaveLength(2);
    expect(markdown).toContain("## TCP bbr and quiche-bbr2, pages of 100 kB");
    // A later page: ln 2. A return: ln (250 / 150).
    expect(markdown).toContain("0.693 ± ");
    expect(markdown).toContain("0.511 ± ");
    expect(markdown).toContain("250, 200, 200 (10)");
    expect(markdown).not.toMatch(/NaN|undefined/);
  });
});
