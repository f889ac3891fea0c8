import { NOTHING } from "../analysis/statistics/round-figure.ts";
import { number, withQuartiles } from "../analysis/tables/format.ts";
import { type Subject, SUBJECT_SETUPS } from "../experiments/api-load/subjects.ts";
import type { ApiLoadSummary, SubjectResult } from "../experiments/api-load/summary.ts";
import { overheadReadmeTable } from "../experiments/overhead/readme-table.ts";
import type { OverheadSummary } from "../experiments/overhead/summary.ts";
import type { Loop } from "../model/request-plan.ts";

export function costValues(overhead: OverheadSummary, api: ApiLoadSummary) {
  return {
    overhead: overheadReadmeTable(overhead).trimEnd(),
    command: overhead.command,
    rounds: overhead.rounds,
    seconds: overhead.seconds,
    /** The median latency of a page beside callers, as a ratio to that without. */
    beside: (subject: Subject) =>
      withQuartiles(resultOf(api, "open", subject).figures.latencyMedianMs?.ratio ?? NOTHING),
    /** Decisions that a core of workerd makes in a second. */
    perCore: (subject: Subject) => {
      const { answersPerCoreSecond } = resultOf(api, "closed", subject);
      return Math.round(answersPerCoreSecond.median * SUBJECT_SETUPS[subject].decisions).toLocaleString("en-US");
    },
    apiCommand: api.command,
  };
}

/** The median latency of small responses through an arm, as a ratio to the edge alone; for that one in milliseconds. */
export function smallLatency({ results }: OverheadSummary, arm: string): string {
  const found = results.find((one) => one.loop === "open" && one.size === "small" && one.arm === arm);
  const latency = found?.figures.latencyMedianMs;
  if (latency === undefined) throw new Error(`Nothing was recorded about ${arm}.`);
  return number(arm === "bare" ? latency.median : latency.ratio.median);
}

function resultOf({ results }: ApiLoadSummary, loop: Loop, subject: Subject): SubjectResult {
  const result = results.find((one) => one.loop === loop && one.subject === subject);
  if (result === undefined) throw new Error(`Nothing was recorded about ${subject}.`);
  return result;
}
