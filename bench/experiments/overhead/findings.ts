import { number, percent, size, withQuartiles } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import { OVERHEAD_SETUPS } from "../../lab/loopback-arms.ts";
import { NOTHING } from "../../analysis/statistics/round-figure.ts";
import { overheadReadmeTable } from "./readme-table.ts";
import { type Loop, LOOPS, type Size } from "../../model/request-plan.ts";
import type { FigureName, OverheadResult, OverheadSummary } from "./summary.ts";

/** The values of report.md. */
export function overheadValues(summary: OverheadSummary) {
  const { command, day, machine, clients, openRate, rounds, seconds, warmSeconds, sizesBytes } = summary;
  const sizes = Object.keys(sizesBytes) as Size[];
  return {
    command,
    day,
    versions: {
      go: machine.go.replace("go", ""),
      workerd: machine.workerd,
      nginx: machine.nginx ?? "not to be had: its arm is left out",
      node: machine.node,
      k6: machine.k6,
    },
    machine: `kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${machine.commit}`,
    cores: machine.cores,
    rounds,
    seconds,
    warmSeconds,
    closedClients: clients.closed.small,
    openClients: clients.open.small,
    openLoad: Math.round(summary.openLoadRatio * 100),
    openRates: sizes
      .map((name) => `${size(sizesBytes[name])}: ${openRate[name]}/s over ${clients.open[name]} connections in turn`)
      .join("; "),
    short: overheadReadmeTable(summary).trimEnd(),
    sections: LOOPS.flatMap((loop) => sizes.map((name) => sectionValues(summary, loop, name))),
    shortfalls: shortfalls(summary),
    foreign: percent(Math.max(...summary.results.map(({ foreignRatio }) => foreignRatio.median))),
  };
}

const COLUMNS: readonly { title: string; name: FigureName }[] = [
  { title: "requests/s", name: "requestsPerSecond" },
  { title: "latency, median, ms", name: "latencyMedianMs" },
  { title: "latency, p90, ms", name: "latencyP90Ms" },
  { title: "latency, p99, ms", name: "latencyP99Ms" },
  { title: "CPU of the edge, us", name: "frontCpuUs" },
  { title: "CPU of workerd, us", name: "workerdCpuUs" },
];

function sectionValues(summary: OverheadSummary, loop: Loop, name: Size) {
  const own = summary.results.filter((result) => result.loop === loop && result.size === name);
  const columns = COLUMNS.filter(({ name: figure }) => own.some(({ figures }) => figures[figure] !== undefined));
  const table = (cell: (result: OverheadResult, figure: FigureName) => string, extra: boolean): string =>
    markdownTable(
      ["", ...columns.map(({ title }) => title), ...(extra ? ["CPU of the origin, us", "CPU of the client, us"] : [])],
      own.map((result) => [
        OVERHEAD_SETUPS[result.arm].title,
        ...columns.map((column) => cell(result, column.name)),
        ...(extra ? [number(result.originCpuUs.median), number(result.clientCpuUs.median)] : []),
      ]),
    ).trimEnd();
  return {
    size: size(summary.sizesBytes[name]),
    loop,
    rate: loop === "open" ? `, ${summary.openRate[name]} requests/s` : "",
    figures: table((result, figure) => withQuartiles(result.figures[figure] ?? NOTHING), true),
    ratios: table(
      (result, figure) => withQuartiles(result.figures[figure]?.ratio ?? NOTHING).replace("1.00 (1.00 to 1.00)", "1"),
      false,
    ),
  };
}

/** From here on k6 itself was late: latencies say less. */
const LATE_MS = 5;

export function shortfalls(summary: OverheadSummary): string[] {
  const lines: string[] = [];
  for (const { loop, size: name, arm, failures, dropped, answers, lateP99Ms } of summary.results) {
    const where = `${size(summary.sizesBytes[name])}, ${loop} loop, ${OVERHEAD_SETUPS[arm].title}`;
    if (failures > 0) lines.push(`${where}: ${failures} answers of ${answers + failures} were not as they should be.`);
    if (dropped > 0) lines.push(`${where}: ${dropped} requests were not made, as every client still waited.`);
    if (lateP99Ms !== null && lateP99Ms > LATE_MS)
      lines.push(
        `${where}: in the worst round 1 % of the requests left more than ${number(lateP99Ms)} ms late (their latency counts it).`,
      );
  }
  if (!summary.arms.includes("nginx")) lines.push("nginx could not be had: there is nothing to hold the edge against.");
  if (summary.rounds < 6) lines.push(`${summary.rounds} rounds are too few to go by: run it with more.`);
  return lines;
}
