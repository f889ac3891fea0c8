import { defineLoads } from "../../harness/loads/define.ts";
import { gridCells, gridReport } from "./report.ts";
import { ALLOCATIONS, type Allocation, type LoadExperiment, type LoadOptions } from "../../model/load-experiment.ts";
import { type Cell, QUEUE_BYTES } from "../../model/cell.ts";

const GRID = {
  rateMbps: [50, 100, 200, 400, 600],
  lossRatio: [0, 0.01, 0.02, 0.03, 0.04, 0.05],
  delayMs: [0, 5, 10, 15, 20, 25],
};

const QUICK_GRID: typeof GRID = { rateMbps: [50, 200], lossRatio: [0, 0.02], delayMs: [0, 10] };
const BYTES = { quick: 100_000, usual: 1_000_000, full: 10_000_000 } as const;

const USUAL: Allocation = { first: 5, cap: 12, comparisons: [{ flow: "download", a: "fixed-h2", b: "fixed-h3" }] };

/** The published grid (ohashi-2020): where each protocol wins, over rate, loss and delay, for one size of object. */
export function ohashiGrid({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const imageBytes = bytes ?? BYTES[size];
  const grid = size === "quick" ? QUICK_GRID : GRID;
  const cells: Cell[] = congestions.flatMap((congestion) =>
    grid.rateMbps.flatMap((rateMbps) =>
      grid.lossRatio.flatMap((lossRatio) =>
        grid.delayMs.map((delayMs) => {
          const name = `${rateMbps}-${lossRatio * 100}-${delayMs}`;
          const network = { name, rateMbps, delayMs, lossRatio, queueBytes: QUEUE_BYTES };
          return { id: `${name}-${congestion}`, network, congestion, imageBytes };
        }),
      ),
    ),
  );
  return {
    switch: "wait",
    loads: [
      { arm: "fixed-h2", flow: "download" },
      { arm: "fixed-h3", flow: "download" },
    ],
    cells,
    allocation: { ...ALLOCATIONS, usual: USUAL }[size],
    timeoutMs: size === "full" ? 600_000 : 60_000,
    notes: [
      "The source does not say whether its delay and loss meet one direction or both. Here delay is one way and meets both directions; loss meets the data.",
      imageBytes !== BYTES.full && `Objects of ${imageBytes / 1e6} MB instead of the published 10 MB.`,
      size !== "full" &&
        "Few runs where the answer is plain instead of 400 everywhere: `--full` runs it as published, for days.",
    ],
  };
}

export const experiment = defineLoads({
  plan: ohashiGrid,
  summarise: ({ experiment: asked, rows, seed }) => ({ cells: gridCells(asked, rows, seed) }),
  report: gridReport,
});
