import { readFileSync } from "node:fs";
import { join } from "node:path";
import { QUICS } from "../model/arm.ts";
import { ROOT } from "../../base/root.ts";
import type { GridCell } from "../experiments/ohashi-grid/grid.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import type { RecordedBrowser } from "./browser-section.ts";
import type { RecordedMemory } from "./memory-section.ts";
import type { QuicEvaluation } from "./quic-policies-section.ts";
import type { ReturningWay } from "../experiments/latency-sweep/returning.ts";
import type { RecordedStacks } from "./stacks-section.ts";
import type { DecisionsSummary } from "./decisions-table.ts";
import type { WinnersSummary } from "./winners-table.ts";
import type { ReplayTable } from "../analysis/replay/replay.ts";
import type { LoopbackSummary } from "../harness/loopback/summary.ts";
import type { Finding, Way } from "../experiments/tcp-congestion/findings.ts";

/** Of summary.json, what the page shows of an experiment that has series. */
export interface SeriesSummary {
  readonly command: string;
  readonly cells: readonly {
    readonly series: string;
    readonly label: string;
    readonly congestion: string;
    readonly ratio?: Interval;
    readonly h2?: Timed;
    readonly h3?: Timed;
  }[];
}

export interface Timed {
  readonly n: number;
  readonly timeouts: number;
  readonly sdMs: number;
  /** Of loads that were left out as a core was busy. */
  readonly busyMeanMs: number | null;
  readonly meanMs: { readonly estimate: number };
}

export interface FoundCrossover {
  readonly x?: number;
  readonly interval?: readonly [number, number];
}

export interface SweepSummary extends SeriesSummary {
  readonly sweep: readonly {
    readonly congestion: string;
    readonly series: string;
    readonly crossover: FoundCrossover;
    readonly crossoverLater: FoundCrossover;
    readonly crossoverBehind?: FoundCrossover;
    readonly growthAfterFirstMs?: { readonly h2: Interval; readonly h3: Interval };
    readonly firstStepMs: { readonly h2: number; readonly h3: number };
    readonly h2AheadAtFirst: number;
    readonly h3AheadAtLast: number;
  }[];
  readonly returning: readonly ReturningWay[];
}

export interface GridSummary {
  readonly command: string;
  readonly cells: readonly Pick<GridCell, "congestion" | "rateMbps" | "delayMs" | "lossPercent" | "winner">[];
}

/** Of summary.json, what the page shows of tcp-congestion. */
export interface CongestionSummary {
  readonly command: string;
  readonly findings: readonly Finding[];
  readonly ways: readonly Way[];
  readonly pathBytes: number;
  /** Of pairs of single loads, those in which beta 0.2 is slower than 0.3. */
  readonly slowerShare: number;
  /** HTTP/3's mean over HTTP/2's with bbr. */
  readonly bbrOverH3: Interval;
}

/** Of the evaluation's summary.json, what the pages show of decisions. */
export interface SavingSummary extends WinnersSummary, DecisionsSummary {
  readonly means: readonly {
    readonly congestion: string;
    readonly flow: string;
    /** Regret, averaged over the networks that are not ties; `upper95` bounds it on one side. */
    readonly expected: number | null;
    readonly upper95: number | null;
  }[];
  /** How much less time adaptive takes than a fixed arm. */
  readonly cuts: readonly { readonly cell: string; readonly fixedH2: Interval; readonly alwaysOffer: Interval }[];
}

/** What was recorded of every published experiment. */
export interface Recorded {
  readonly grid: GridSummary;
  readonly evaluation: SavingSummary;
  readonly sweep: SweepSummary;
  readonly limits: SeriesSummary;
  readonly congestion: CongestionSummary;
  readonly browser: RecordedBrowser;
  readonly stacks: RecordedStacks;
  readonly quicEvaluations: readonly QuicEvaluation[];
  readonly memory: RecordedMemory;
  readonly replay: readonly ReplayTable[];
  readonly overhead: LoopbackSummary;
  readonly apiLoad: LoopbackSummary;
}

/** Reads the summaries of bench/results. @throws where one is missing */
export function readRecorded(): Recorded {
  const summary = (experiment: string): unknown =>
    JSON.parse(readFileSync(join(ROOT, "bench/results", experiment, "summary.json"), "utf8"));
  return {
    grid: summary("ohashi-grid") as GridSummary,
    evaluation: summary("ohashi-evaluation") as SavingSummary,
    sweep: summary("latency-sweep") as SweepSummary,
    limits: summary("bandwidth-limits") as SeriesSummary,
    congestion: summary("tcp-congestion") as CongestionSummary,
    browser: summary("browser-page") as RecordedBrowser,
    stacks: summary("stacks") as RecordedStacks,
    quicEvaluations: QUICS.filter((quic) => quic !== "quic-go").map((quic) => ({
      quic,
      ...(summary(`evaluation-${quic}`) as Omit<QuicEvaluation, "quic">),
    })),
    memory: summary("memory") as RecordedMemory,
    replay: summary("replay") as ReplayTable[],
    overhead: summary("overhead") as LoopbackSummary,
    apiLoad: summary("api-load") as LoopbackSummary,
  };
}
