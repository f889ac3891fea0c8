import { NOTHING } from "../analysis/statistics/round-figure.ts";
import { number, withQuartiles } from "../analysis/tables/format.ts";
import type { Values } from "../analysis/tables/template.ts";
import { overheadReadmeTable } from "../experiments/overhead/readme-table.ts";
import { findResult, type LoopbackSummary } from "../harness/loopback/summary.ts";

export function costValues(overhead: LoopbackSummary, api: LoopbackSummary): Values {
  return {
    overhead: overheadReadmeTable(overhead).trimEnd(),
    command: overhead.command,
    rounds: overhead.rounds,
    seconds: overhead.seconds,
    besideOperators: latencyRatio(api, "pages-under-operators"),
    besideQuestions: latencyRatio(api, "pages-under-api"),
    besideRequests: latencyRatio(api, "pages-under-requests"),
    questionsPerCore: perCore(api, "decide-1", 1),
    decisionsPerCore: perCore(api, "decide-100", 100),
    apiCommand: api.command,
  };
}

/** The median latency of small responses through an arm, as a ratio to the edge alone; for that one in milliseconds. */
export function smallLatency(overhead: LoopbackSummary, arm: string): string {
  const latency = findResult(overhead, "open", `small/${arm}`).figures.latencyMedianMs;
  return number(arm === "bare" ? latency?.median : latency?.ratio.median);
}

function latencyRatio(api: LoopbackSummary, subject: string): string {
  return withQuartiles(findResult(api, "open", subject).figures.latencyMedianMs?.ratio ?? NOTHING);
}

function perCore(api: LoopbackSummary, subject: string, decisions: number): string {
  const { answersPerCoreSecond } = findResult(api, "closed", subject);
  return Math.round(answersPerCoreSecond.median * decisions).toLocaleString("en-US");
}
