import { withQuartiles } from "../../analysis/tables/format.ts";
import { number, size } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import { OVERHEAD_SETUPS } from "../../lab/loopback-arms.ts";
import type { Figure } from "../../analysis/statistics/round-figure.ts";
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
