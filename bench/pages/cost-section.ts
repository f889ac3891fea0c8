import { NOTHING } from "../analysis/statistics/round-figure.ts";
import { number, withQuartiles } from "../analysis/tables/format.ts";
import { DECISIONS } from "../experiments/api-load/findings.ts";
import { overheadReadmeTable } from "../experiments/overhead/readme-table.ts";
import { withInterval } from "../experiments/overhead/steps-table.ts";
import { CLIENTS } from "../experiments/overhead/subjects.ts";
import { findResult, type LoopbackSummary } from "../harness/loopback/summary.ts";

export function costValues(overhead: LoopbackSummary, api: LoopbackSummary) {
  const addedIn = (loop: "closed" | "open") => findResult(overhead, loop, "small/adaptive").added;
  return {
    clients: CLIENTS.small,
    /** An adaptive page beside a fixed one. */
    adaptive: {
      rate: withInterval(addedIn("closed")?.requestsPerSecond),
      cpu: withInterval(addedIn("open")?.workerdCpuUs),
    },
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
