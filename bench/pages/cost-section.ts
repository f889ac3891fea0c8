import { number } from "../analysis/tables/format.ts";
import { overheadReadmeTable } from "../experiments/overhead/readme-table.ts";
import { withInterval } from "../experiments/overhead/steps-table.ts";
import { CLIENTS } from "../experiments/overhead/subjects.ts";
import { findResult, type LoopbackSummary } from "../harness/loopback/summary.ts";

/** @param again the same on another day, in fewer rounds: how far the first may be trusted */
export function costValues(overhead: LoopbackSummary, again: LoopbackSummary) {
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
  };
}

/** The median latency of small responses through an arm, as a ratio to the edge alone; for that one in milliseconds. */
export function smallLatency(overhead: LoopbackSummary, arm: string): string {
  const latency = findResult(overhead, "open", `small/${arm}`).figures.latencyMedianMs;
  return number(arm === "bare" ? latency?.median : latency?.ratio.median);
}
