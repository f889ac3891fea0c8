import type { Figure } from "../../analysis/statistics/round-figure.ts";
import { number } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import { findResult, type LoopbackSummary } from "../../harness/loopback/summary.ts";

/** What each arm adds to the one that does the next less: ratios within a round, and the 95 % interval of their median. */
export function stepsTable(summary: LoopbackSummary): string {
  const steps = summary.results.filter(({ loop, added }) => loop === "closed" && added !== undefined);
  return markdownTable(
    ["", "beside", "requests/s, closed loop", "workerd's CPU, closed loop", "workerd's CPU, open loop"],
    steps.map(({ subject, title, group, added }) => [
      `${group}, ${title}`,
      findResult(summary, "closed", added?.to ?? subject).title,
      withInterval(added?.requestsPerSecond),
      withInterval(added?.workerdCpuUs),
      withInterval(findResult(summary, "open", subject).added?.workerdCpuUs),
    ]),
  );
}

/** Without an interval where there are too few rounds for one. */
export function withInterval(ratio: Figure["ratio"] | undefined): string {
  if (ratio === undefined || !Number.isFinite(ratio.median)) return "-";
  const { median, interval } = ratio;
  return interval === null ? number(median) : `${number(median)} (${number(interval[0])} to ${number(interval[1])})`;
}
