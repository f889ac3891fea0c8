import { percent, withQuartiles } from "../../analysis/tables/format.ts";
import { count, figureColumns, ratioColumns, resultsTable } from "../../harness/loopback/report.ts";
import { findResult, type LoopbackResult, type LoopbackSummary } from "../../harness/loopback/summary.ts";
import type { Loop } from "../../model/request-plan.ts";
import { PROXIES, VISITORS } from "./subjects.ts";

const LATENCIES = ["latencyMedianMs", "latencyP90Ms", "latencyP99Ms"] as const;
const COSTS = ["requestsPerSecond", "workerdCpuUs", "frontCpuUs"] as const;

/** The values of report.md, beside the head's. */
export function apiLoadValues(summary: LoopbackSummary) {
  const { results, company } = summary;
  const own = (loop: Loop, group: string): LoopbackResult[] =>
    results.filter((result) => result.loop === loop && result.group === group);
  const visitors = own("open", "visitors");
  const [open, closed] = [own("open", "decisions"), own("closed", "decisions")];
  return {
    pages: {
      rate: findResult(summary, "open", "pages").rate ?? 0,
      clients: VISITORS,
      figures: resultsTable(visitors, [
        ...figureColumns(LATENCIES),
        ["workerd, of a core", ofACore],
        ["pages", asked],
        ["errors", failed],
      ]),
      ratios: resultsTable(visitors.slice(1), ratioColumns(LATENCIES)),
    },
    callers: resultsTable(company, [
      ["beside", ({ group }) => group],
      ["a second", ({ rate }) => String(rate)],
      ...figureColumns(["latencyMedianMs", "latencyP99Ms"]),
      ["calls", asked],
      ["errors", failed],
    ]),
    deciding: {
      rate: findResult(summary, "open", "pass").rate ?? 0,
      clients: PROXIES,
      open: resultsTable(open, figureColumns(LATENCIES)),
      closed: resultsTable(closed, [
        ...figureColumns(COSTS),
        ["answers per core second", ({ answersPerCoreSecond }) => withQuartiles(answersPerCoreSecond)],
        ["decisions per core second", decisionsPerCoreSecond],
      ]),
      openRatios: resultsTable(open.slice(1), ratioColumns(LATENCIES)),
      closedRatios: resultsTable(closed.slice(1), ratioColumns(COSTS)),
    },
  };
}

type Cell = (result: LoopbackResult) => string;

const asked: Cell = ({ answers, failures }) => count(answers + failures);
const failed: Cell = ({ failures }) => count(failures);
const ofACore: Cell = ({ workerdBusyRatio: { median, low, high } }) =>
  `${percent(median)} (${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)})`;

/** What one answer decides. */
export const DECISIONS: Readonly<Record<string, number>> = { "decide-1": 1, "decide-100": 100 };

const decisionsPerCoreSecond: Cell = ({ subject, answersPerCoreSecond: { median, low, high } }) => {
  const decisions = DECISIONS[subject];
  if (decisions === undefined) return "-";
  return withQuartiles({ median: median * decisions, low: low * decisions, high: high * decisions });
};
