import { number } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import type { DecideCostSummary, Spread } from "./findings.ts";

export function costTable({ costs }: DecideCostSummary): string {
  const figures = ["ns a call, median", "range", "times a plain look-up", "range", "heap, bytes left a call"];
  return markdownTable(
    ["", ...figures.map((title) => ({ title, align: "right" as const }))],
    costs.map(({ subject, nsPerCall, ratio, heapBytesPerCall }) => [
      subject,
      number(nsPerCall.median),
      range(nsPerCall),
      number(ratio.median),
      range(ratio),
      heapBytesPerCall.toFixed(3),
    ]),
  );
}

/** The values of report.md. */
export function decideCostValues(summary: DecideCostSummary) {
  const { command, day, policy, nodes, rounds, heapCalls, machine, costs, boundNs } = summary;
  const states = costs.flatMap(({ subject, state }) => (state === null ? [] : [{ subject, ...state }]));
  const { node, cores, cpu, kernel, arch, commit } = machine;
  return {
    command,
    day,
    table: costTable(summary).trimEnd(),
    isWithin: summary.withinBound ? "is within" : "**misses**",
    boundUs: number(boundNs / 1_000),
    heapCalls: heapCalls.toLocaleString("en-US"),
    grows: summary.nothingGrows
      ? "nothing is left on the heap that grows with them"
      : "**something is left on the heap**",
    later: number(laterRatio(summary)),
    states: states
      .map(
        ({ subject, epochs, buckets, baselines, bytes }) =>
          `${subject} ${epochs} epochs, ${buckets} buckets a window, ${baselines} baselines, ${bytes.toLocaleString("en-US")} bytes of JSON`,
      )
      .join("; "),
    subjects: costs.map(({ subject, about }) => `- ${subject}: ${about}`).join("\n"),
    policy,
    nodes,
    rounds,
    machine: { node, cores, cpu, kernel, arch, commit },
  };
}

function laterRatio({ costs }: DecideCostSummary): number {
  const ns = (name: string): number => costs.find(({ subject }) => subject === name)?.nsPerCall.median ?? Number.NaN;
  return ns("update after 1,000,000") / ns("update after 10,000");
}

function range({ min, max }: Spread): string {
  return `${number(min)} to ${number(max)}`;
}
