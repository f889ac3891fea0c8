import { findResult, type FigureName, type LoopbackSummary } from "../../harness/loopback/summary.ts";
import { number, size, withQuartiles } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import { type Loop, SIZES } from "../../model/request-plan.ts";

const COLUMNS: readonly { title: string; loop: Loop; figure: FigureName; unit: string; reference: string }[] = [
  { title: "requests/s", loop: "closed", figure: "requestsPerSecond", unit: "/s", reference: "small/bare" },
  { title: "latency, median", loop: "open", figure: "latencyMedianMs", unit: "ms", reference: "small/bare" },
  { title: "latency, p99", loop: "open", figure: "latencyP99Ms", unit: "ms", reference: "small/bare" },
  { title: "workerd's CPU", loop: "open", figure: "workerdCpuUs", unit: "us", reference: "small/pass-through" },
];

/**
 * The table of README's "What it costs", of small responses: the references in figures, all others beside them. Requests
 * per second are the closed loop's; latency and CPU time the open loop's, where every arm has the same to do.
 */
export function overheadReadmeTable(summary: LoopbackSummary): string {
  const arms = summary.results.filter(({ loop, group }) => loop === "open" && group === size(SIZES.small));
  return markdownTable(
    [`${size(SIZES.small)} through`, ...COLUMNS.map(({ title }) => title)],
    arms.map(({ subject, title }) => [
      title,
      ...COLUMNS.map(({ loop, figure, unit, reference }) => {
        const found = findResult(summary, loop, subject).figures[figure];
        if (found === undefined) return "";
        return subject === reference ? `${number(found.median)} ${unit}` : withQuartiles(found.ratio);
      }),
    ]),
  );
}
