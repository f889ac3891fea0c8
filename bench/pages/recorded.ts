import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Quic, QUICS } from "../model/arm.ts";
import { ROOT } from "../../base/root.ts";
import type { BrowserSummary } from "../experiments/browser-page/summary.ts";
import type { OffersSummary } from "../experiments/offers/findings.ts";
import type { PopulationSummary } from "../analysis/population/report.ts";
import type { MemorySummary } from "../experiments/memory/summary.ts";
import type { LoopbackSummary } from "../harness/loopback/summary.ts";
import type { experiment as limits } from "../experiments/bandwidth-limits/experiment.ts";
import type { experiment as sweep } from "../experiments/latency-sweep/experiment.ts";
import type { experiment as evaluation } from "../experiments/ohashi-evaluation/experiment.ts";
import type { experiment as grid } from "../experiments/ohashi-grid/experiment.ts";
import type { experiment as stacks } from "../experiments/stacks/experiment.ts";
import type { experiment as congestion } from "../experiments/tcp-congestion/experiment.ts";

import type { RecordedVisits } from "./nine-visits-section.ts";

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
    grid: summaryIn("ohashi-grid") as SummaryOf<typeof grid>,
    evaluation: summaryIn("ohashi-evaluation") as RecordedEvaluation,
    sweep: summaryIn("latency-sweep") as SummaryOf<typeof sweep>,
    limits: summaryIn("bandwidth-limits") as SummaryOf<typeof limits>,
    congestion: summaryIn("tcp-congestion") as SummaryOf<typeof congestion>,
    browser: summaryIn("browser-page") as BrowserSummary,
    offers: summaryIn("offers") as OffersSummary,
    population: summaryIn("population") as PopulationSummary,
    visits: summaryIn("nine-visits") as RecordedVisits,
    stacks: summaryIn("stacks") as SummaryOf<typeof stacks>,
    quicEvaluations: QUICS.filter((quic) => quic !== "quic-go").map((quic): QuicEvaluation => ({
      ...(summaryIn(`evaluation-${quic}`) as RecordedEvaluation),
      quic,
    })),
    memory: summaryIn("memory") as MemorySummary,
    overhead: summaryIn("overhead") as LoopbackSummary,
    overheadAgain: summaryIn("overhead-again") as LoopbackSummary,
  };
}

/** What a page names must have been recorded. @throws Error naming what is missing */
export function known<Found>(found: Found | null | undefined, what: string): Found {
  if (found == null) throw new Error(`Nothing was recorded about ${what}.`);
  return found;
}

function summaryIn(folder: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, "bench/results", folder, "summary.json"), "utf8"));
}
