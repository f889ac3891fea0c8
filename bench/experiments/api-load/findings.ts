import { percent, withQuartiles } from "../../analysis/tables/format.ts";
import { type Column, count, figureColumns, ratioColumns, resultsTable } from "../../harness/loopback/report.ts";
import { findResult, type LoopbackResult, type LoopbackSummary } from "../../harness/loopback/summary.ts";
import type { Loop } from "../../model/request-plan.ts";
import { PROXIES, VISITORS } from "./subjects.ts";

/** Of what the slowest did in the closed loop. Less than overhead's: the callers have to find room beside it. */
export const OPEN_LOAD_RATIO = 0.4;

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
    openLoad: OPEN_LOAD_RATIO * 100,
    pages: {
      rate: findResult(summary, "open", "pages").rate ?? 0,
      clients: VISITORS,
      figures: resultsTable(visitors, [
        ...figureColumns(LATENCIES),
        { title: "workerd, of a core", cell: ofACore },
        { title: "pages", cell: asked },
        { title: "errors", cell: failed },
      ]),
      ratios: resultsTable(visitors.slice(1), ratioColumns(LATENCIES)),
    },
    callers: resultsTable(company, [
      { title: "beside", cell: ({ group }) => group },
      { title: "a second", cell: ({ rate }) => String(rate) },
      ...figureColumns(["latencyMedianMs", "latencyP99Ms"]),
      { title: "calls", cell: asked },
      { title: "errors", cell: failed },
    ]),
    deciding: {
      rate: findResult(summary, "open", "pass").rate ?? 0,
      clients: PROXIES,
      open: resultsTable(open, figureColumns(LATENCIES)),
      closed: resultsTable(closed, [
        ...figureColumns(COSTS),
        { title: "answers per core second", cell: ({ answersPerCoreSecond }) => withQuartiles(answersPerCoreSecond) },
        { title: "decisions per core second", cell: decisionsPerCoreSecond },
      ]),
      openRatios: resultsTable(open.slice(1), ratioColumns(LATENCIES)),
      closedRatios: resultsTable(closed.slice(1), ratioColumns(COSTS)),
    },
  };
}

const asked: Column["cell"] = ({ answers, failures }) => count(answers + failures);
const failed: Column["cell"] = ({ failures }) => count(failures);
const ofACore: Column["cell"] = ({ workerdBusyRatio: { median, low, high } }) =>
  `${percent(median)} (${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)})`;

/** What one answer decides. */
const DECISIONS: Readonly<Record<string, number>> = { "decide-1": 1, "decide-100": 100 };

const decisionsPerCoreSecond: Column["cell"] = ({ subject, answersPerCoreSecond: { median, low, high } }) => {
  const decisions = DECISIONS[subject];
  if (decisions === undefined) return "-";
  return withQuartiles({ median: median * decisions, low: low * decisions, high: high * decisions });
};
