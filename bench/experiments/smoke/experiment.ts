import { defineLoads } from "../../harness/loads/define.ts";
import { evaluationReport, evaluationSummary } from "../../harness/loads/evaluation.ts";
import { CONGESTIONS } from "../../model/congestion.ts";
import { ARMS } from "../../model/arm.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { QUEUE_BYTES } from "../../model/cell.ts";

/** Two networks, all arms, all flows, all outputs: whether the instrument works, not what it measures. */
export function smoke({ bytes, congestions }: LoadOptions): LoadExperiment {
  // One is enough to see whether the instrument works.
  const congestion = congestions[0] ?? CONGESTIONS[0];
  return {
    switch: "wait",
    loads: [
      ...ARMS.flatMap((arm) => (["trained", "cold"] as const).map((flow) => ({ arm, flow }))),
      // What the other arms answer does not depend on what was measured: for them this flow is `trained`.
      { arm: "adaptive", flow: "trained-on-h2" },
    ],
    cells: [
      { name: "near", rateMbps: 100, delayMs: 0, lossRatio: 0, queueBytes: QUEUE_BYTES },
      { name: "far-lossy", rateMbps: 20, delayMs: 10, lossRatio: 0.02, queueBytes: QUEUE_BYTES },
    ].map((network) => ({ id: `${network.name}-${congestion}`, network, congestion, imageBytes: bytes ?? 200_000 })),
    // The fewest that have an interval and a regret.
    allocation: { first: 5, cap: 5, comparisons: [] },
    timeoutMs: 20_000,
    notes: ["Five runs: figures of this experiment tell nothing but that the instrument works."],
  };
}

export const experiment = defineLoads({ plan: smoke, summarise: evaluationSummary, report: evaluationReport });
