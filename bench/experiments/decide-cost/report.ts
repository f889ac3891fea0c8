import { number } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import type { DecideCostSummary, Spread } from "./summary.ts";

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

export function decideCostReport(summary: DecideCostSummary): string {
  const { command, day, policy, nodes, rounds, heapCalls, machine, costs, boundNs, withinBound, nothingGrows } =
    summary;
  const states = costs.flatMap(({ subject, state }) => (state === null ? [] : [{ subject, ...state }]));
  return `# decide-cost: what a decision costs

\`${command}\`, ${day}.

${costTable(summary)}
- \`decide\` ${withinBound ? "is within" : "**misses**"} its bound of ${number(boundNs / 1_000)} microseconds (median).
- Over ${heapCalls.toLocaleString("en-US")} calls of each ${nothingGrows ? "nothing is left on the heap that grows with them" : "**something is left on the heap**"}: what is reachable after a collection, before and after.
- After 1,000,000 samples an update takes ${number(laterRatio(summary))} times what it takes after 10,000, and the state is as large: ${states
    .map(
      ({ subject, epochs, buckets, baselines, bytes }) =>
        `${subject} ${epochs} epochs, ${buckets} buckets a window, ${baselines} baselines, ${bytes.toLocaleString("en-US")} bytes of JSON`,
    )
    .join("; ")}.

What is timed:

${costs.map(({ subject, about }) => `- ${subject}: ${about}`).join("\n")}

Policy: ${policy}, ${nodes.tcp} nodes over what TCP measures and ${nodes.quic} over what QUIC measures, with exploration on. Inputs are
1,024 navigations all over the lattice. ${rounds} rounds, all subjects in each, another one first each time; ratios are
taken within a round. Times are CPU time of the process, its collector and compiler included: other programs' time is
not in them, but what they do to caches is.

Machine: node ${machine.node}, ${machine.cores} cores of ${machine.cpu}, Linux ${machine.kernel} (${machine.arch}); commit ${machine.commit}.
`;
}

function laterRatio({ costs }: DecideCostSummary): number {
  const ns = (name: string): number => costs.find(({ subject }) => subject === name)?.nsPerCall.median ?? Number.NaN;
  return ns("update after 1,000,000") / ns("update after 10,000");
}

function range({ min, max }: Spread): string {
  return `${number(min)} to ${number(max)}`;
}
