import { defineLoads } from "../../harness/loads/define.ts";
import { QUEUE_BYTES } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { reorderingReport, reorderingSummary } from "./findings.ts";

const RATE_MBPS = 50;
const IMAGE_BYTES = 300_000;
const USUAL = { rttMs: [10, 60], share: [0.001, 0.01, 0.03, 0.05], byMs: [1, 3, 20], rounds: 20 };
const QUICK: typeof USUAL = { rttMs: [10], share: [0.03], byMs: [3], rounds: 5 };

/** Paths that drop nothing, on which packets come late: what each protocol's sender counts as lost, and what is believed of it. */
export function reordering({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { rttMs, share, byMs, rounds } = size === "quick" ? QUICK : USUAL;
  const lates = [{ share: 0, byMs: 0 }, ...share.flatMap((one) => byMs.map((ms) => ({ share: one, byMs: ms })))];
  const networks = rttMs.flatMap((rtt) =>
    lates.map((late) => ({
      name: late.share === 0 ? `${rtt}-in-order` : `${rtt}-${100 * late.share}-by-${late.byMs}`,
      rateMbps: RATE_MBPS,
      delayMs: rtt / 2,
      late,
      lossRatio: 0,
      queueBytes: QUEUE_BYTES,
    })),
  );
  return {
    about: "paths that drop nothing, on which packets come late: what counts as lost over each protocol",
    switch: "wait",
    loads: [
      { arm: "fixed-h2", flow: "download" },
      { arm: "fixed-h3", flow: "download" },
    ],
    cells: networks.flatMap((network) =>
      congestions.map((congestion) => ({
        id: `${network.name}-${congestion}`,
        network,
        congestion,
        imageBytes: bytes ?? IMAGE_BYTES,
      })),
    ),
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    timeoutMs: 30_000,
    notes: [
      "A load is one connection, which ends with its image: a packet that is late at its end can no longer be taken back.",
    ],
  };
}

export const experiment = defineLoads({ plan: reordering, summarise: reorderingSummary, report: reorderingReport });
