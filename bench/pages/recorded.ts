import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Quic, QUICS } from "../model/arm.ts";
import { ROOT } from "../../base/root.ts";
import type { ReplayTable } from "../analysis/replay/replay.ts";
import type { ApiLoadSummary } from "../experiments/api-load/summary.ts";
import type { BrowserSummary } from "../experiments/browser-page/summary.ts";
import type { MemorySummary } from "../experiments/memory/summary.ts";
import type { OverheadSummary } from "../experiments/overhead/summary.ts";
import type { stacksSummary } from "../experiments/stacks/findings.ts";
import type { congestionSummary } from "../experiments/tcp-congestion/tables.ts";
import type { experiment as sweep } from "../experiments/latency-sweep/experiment.ts";
import type { experiment as grid } from "../experiments/ohashi-grid/experiment.ts";
import type { EvaluationSummary } from "../harness/loads/evaluation.ts";
import type { seriesSummary } from "../harness/loads/series.ts";

interface Run {
  readonly command: string;
}

export type SeriesSummary = Run & ReturnType<typeof seriesSummary>;
export type SweepSummary = Run & ReturnType<(typeof sweep)["definition"]["summarise"]>;
export type GridSummary = Run & ReturnType<(typeof grid)["definition"]["summarise"]>;
export type CongestionSummary = Run & ReturnType<typeof congestionSummary>;
export type RecordedStacks = Run & ReturnType<typeof stacksSummary>;
export type RecordedEvaluation = Run & EvaluationSummary;
export type QuicEvaluation = RecordedEvaluation & { readonly quic: Exclude<Quic, "quic-go"> };
export type RecordedMemory = Run &
  MemorySummary & { readonly bytes: number; readonly rateMbps: number; readonly delayMs: number };

/** What was recorded of every published experiment. */
export type Recorded = ReturnType<typeof readRecorded>;

/** Reads the summaries of bench/results. @throws where one is missing */
export function readRecorded() {
  return {
    grid: summaryIn<GridSummary>("ohashi-grid"),
    evaluation: summaryIn<RecordedEvaluation>("ohashi-evaluation"),
    sweep: summaryIn<SweepSummary>("latency-sweep"),
    limits: summaryIn<SeriesSummary>("bandwidth-limits"),
    congestion: summaryIn<CongestionSummary>("tcp-congestion"),
    browser: summaryIn<BrowserSummary>("browser-page"),
    stacks: summaryIn<RecordedStacks>("stacks"),
    quicEvaluations: QUICS.filter((quic) => quic !== "quic-go").map((quic): QuicEvaluation => ({
      ...summaryIn<RecordedEvaluation>(`evaluation-${quic}`),
      quic,
    })),
    memory: summaryIn<RecordedMemory>("memory"),
    replay: summaryIn<readonly ReplayTable[]>("replay"),
    overhead: summaryIn<OverheadSummary>("overhead"),
    apiLoad: summaryIn<ApiLoadSummary>("api-load"),
  };
}

function summaryIn<Summary>(folder: string): Summary {
  return JSON.parse(readFileSync(join(ROOT, "bench/results", folder, "summary.json"), "utf8")) as Summary;
}
