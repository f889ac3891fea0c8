import { NOTHING } from "../analysis/statistics/round-figure.ts";
import { number, withQuartiles } from "../analysis/tables/format.ts";
import { DECISIONS } from "../experiments/api-load/findings.ts";
import { overheadReadmeTable } from "../experiments/overhead/readme-table.ts";
import { withInterval } from "../experiments/overhead/steps-table.ts";
import { CLIENTS } from "../experiments/overhead/subjects.ts";
import { findResult, type LoopbackSummary } from "../harness/loopback/summary.ts";

/** @param again the same on another day, in fewer rounds: how far the first may be trusted */
export function costValues(overhead: LoopbackSummary, again: LoopbackSummary, api: LoopbackSummary) {
  /** An adaptive page beside a fixed one. */
  const addedOf = (summary: LoopbackSummary) => ({
    rate: withInterval(findResult(summary, "closed", "small/adaptive").added?.requestsPerSecond),
    cpu: withInterval(findResult(summary, "open", "small/adaptive").added?.workerdCpuUs),
  });
  return {
    clients: CLIENTS.small,
    adaptive: addedOf(overhead),
    again: { ...addedOf(again), rounds: again.rounds },
    overhead: overheadReadmeTable(overhead).trimEnd(),
    command: overhead.command,
    rounds: overhead.rounds,
    seconds: overhead.seconds,
    /** The median latency of a page beside callers, as a ratio to that without. */
    beside: (subject: string) =>
      withQuartiles(findResult(api, "open", subject).figures.latencyMedianMs?.ratio ?? NOTHING),
    /** Decisions that a core of workerd makes in a second. */
    perCore: (subject: string) => {
      const { answersPerCoreSecond } = findResult(api, "closed", subject);
      return Math.round(answersPerCoreSecond.median * (DECISIONS[subject] ?? 0)).toLocaleString("en-US");
    },
    apiCommand: api.command,
  };
}

/** The median latency of small responses through an arm, as a ratio to the edge alone; for that one in milliseconds. */
export function smallLatency(overhead: LoopbackSummary, arm: string): string {
  const latency = findResult(overhead, "open", `small/${arm}`).figures.latencyMedianMs;
  return number(arm === "bare" ? latency?.median : latency?.ratio.median);
}
