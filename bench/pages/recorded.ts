import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Quic, QUICS } from "../model/arm.ts";
import { ROOT } from "../../base/root.ts";
import type { ReplayTable } from "../analysis/replay/replay.ts";
import type { ApiLoadSummary } from "../experiments/api-load/summary.ts";
import type { BrowserSummary } from "../experiments/browser-page/summary.ts";
import type { MemorySummary } from "../experiments/memory/summary.ts";
import type { OverheadSummary } from "../experiments/overhead/summary.ts";
import type { experiment as limits } from "../experiments/bandwidth-limits/experiment.ts";
import type { experiment as sweep } from "../experiments/latency-sweep/experiment.ts";
import type { experiment as evaluation } from "../experiments/ohashi-evaluation/experiment.ts";
import type { experiment as grid } from "../experiments/ohashi-grid/experiment.ts";
import type { experiment as stacks } from "../experiments/stacks/experiment.ts";
import type { experiment as congestion } from "../experiments/tcp-congestion/experiment.ts";

type SummaryOf<Experiment extends { definition: { summarise(recorded: never): object } }> = ReturnType<
  Experiment["definition"]["summarise"]
> & { readonly command: string };

export type RecordedEvaluation = SummaryOf<typeof evaluation>;
export type QuicEvaluation = RecordedEvaluation & { readonly quic: Exclude<Quic, "quic-go"> };

/** What was recorded of every published experiment. */
export type Recorded = ReturnType<typeof readRecorded>;

/** Reads the summaries of bench/results. @throws where one is missing */
export function readRecorded() {
  return {
    grid: summaryIn<SummaryOf<typeof grid>>("ohashi-grid"),
    evaluation: summaryIn<RecordedEvaluation>("ohashi-evaluation"),
    sweep: summaryIn<SummaryOf<typeof sweep>>("latency-sweep"),
    limits: summaryIn<SummaryOf<typeof limits>>("bandwidth-limits"),
    congestion: summaryIn<SummaryOf<typeof congestion>>("tcp-congestion"),
    browser: summaryIn<BrowserSummary>("browser-page"),
    stacks: summaryIn<SummaryOf<typeof stacks>>("stacks"),
    quicEvaluations: QUICS.filter((quic) => quic !== "quic-go").map((quic): QuicEvaluation => ({
      ...summaryIn<RecordedEvaluation>(`evaluation-${quic}`),
      quic,
    })),
    memory: summaryIn<MemorySummary & { command: string; bytes: number; rateMbps: number; delayMs: number }>("memory"),
    replay: summaryIn<readonly ReplayTable[]>("replay"),
    overhead: summaryIn<OverheadSummary>("overhead"),
    apiLoad: summaryIn<ApiLoadSummary>("api-load"),
  };
}

function summaryIn<Summary>(folder: string): Summary {
  return JSON.parse(readFileSync(join(ROOT, "bench/results", folder, "summary.json"), "utf8")) as Summary;
}
