import { number, size } from "../report/format.ts";
import { markdownTable } from "../report/table.ts";
import { OVERHEAD_SETUPS } from "./arms.ts";
import type { Figure, Spread } from "./figure.ts";
import type { FigureName, OverheadSummary } from "./summary.ts";

/**
 * The table of README's "What it costs", of small responses: the first line in figures, all others beside it. Requests
 * per second are the closed loop's; latency and CPU time the open loop's, where every arm has the same to do.
 */
export function overheadReadmeTable(summary: OverheadSummary): string {
  const figure = (loop: "closed" | "open", arm: string, name: FigureName): Figure | undefined =>
    summary.results.find((result) => result.loop === loop && result.size === "small" && result.arm === arm)?.figures[
      name
    ];
  const rows = summary.arms.map((arm) => {
    const cell = (loop: "closed" | "open", name: FigureName, unit: string): string => {
      const found = figure(loop, arm, name);
      if (found === undefined) return "";
      return arm === "bare" ? `${number(found.median)} ${unit}` : withQuartiles(found.ratio);
    };
    const workerd = figure("open", arm, "workerdCpuUs");
    return [
      OVERHEAD_SETUPS[arm].title,
      cell("closed", "requestsPerSecond", "/s"),
      cell("open", "latencyMedianMs", "ms"),
      cell("open", "latencyP99Ms", "ms"),
      workerd === undefined
        ? ""
        : arm === "pass-through"
          ? `${number(workerd.median)} us`
          : withQuartiles(workerd.ratio),
    ];
  });
  const columns = [
    `${size(summary.sizesBytes.small)} through`,
    "requests/s",
    "latency, median",
    "latency, p99",
    "workerd's CPU",
  ];
  return markdownTable(columns, rows);
}

/** `1.23 (1.10 to 1.31)`: the median of the rounds' ratios, and the middle half of them. */
export function withQuartiles({ median, low, high }: Spread): string {
  if (!Number.isFinite(median)) return "-";
  return `${number(median)} (${number(low)} to ${number(high)})`;
}
