import { NOTHING } from "../../analysis/statistics/round-figure.ts";
import { number, percent, withQuartiles } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import { CLOSED_CLIENTS, WARM_SECONDS } from "./measure.ts";
import { type FigureName, FIGURES, type LoopbackResult, type LoopbackSummary } from "./summary.ts";

export interface Column {
  readonly title: string;
  readonly cell: (result: LoopbackResult) => string;
}

export function figureColumns(names: readonly FigureName[]): Column[] {
  return names.map((name) => ({
    title: FIGURES[name],
    cell: ({ figures }) => withQuartiles(figures[name] ?? NOTHING),
  }));
}

/** Ratios within a round; 1 for what the others are held against. */
export function ratioColumns(names: readonly FigureName[]): Column[] {
  return names.map((name) => ({
    title: FIGURES[name].replace(/, (ms|us)$/, ""),
    cell: ({ figures }) => withQuartiles(figures[name]?.ratio ?? NOTHING).replace("1.00 (1.00 to 1.00)", "1"),
  }));
}

/** A line for each result. */
export function resultsTable(results: readonly LoopbackResult[], columns: readonly Column[]): string {
  return markdownTable(
    ["", ...columns.map(({ title }) => title)],
    results.map((result) => [result.title, ...columns.map(({ cell }) => cell(result))]),
  ).trimEnd();
}

/** The values that every report.md has. */
export function headValues(summary: LoopbackSummary) {
  const { command, day, machine, rounds, seconds, results } = summary;
  const { go, workerd, node, k6, kernel, arch, cores, cpu, memoryGiB, commit } = machine;
  return {
    command,
    day,
    versions: { go: go.replace("go", ""), workerd, node, k6 },
    machine: `kernel ${kernel} (${arch}), ${cores} cores of ${cpu}, ${memoryGiB} GiB; commit ${commit}`,
    cores,
    rounds,
    seconds,
    warmSeconds: WARM_SECONDS,
    closedClients: CLOSED_CLIENTS,
    shortfalls: shortfalls(summary),
    foreign: percent(Math.max(...results.map(({ foreignRatio }) => foreignRatio.median))),
  };
}

/** From here on k6 itself was late: latencies say less. */
const LATE_MS = 5;
/** Of the cores, from which on other programs are in the figures. */
const FOREIGN_RATIO = 0.05;

export function shortfalls({ results, company, tools, rounds }: LoopbackSummary): string[] {
  const lines = [...results, ...company].flatMap((result) => {
    const { group, loop, title, answers, failures, dropped, lateP99Ms, foreignRatio } = result;
    const said = [
      failures > 0 && `${count(failures)} of ${count(answers + failures)} were not answered as they should be.`,
      dropped > 0 && `${count(dropped)} requests were not made, as every client still waited.`,
      lateP99Ms !== null &&
        lateP99Ms > LATE_MS &&
        `in the worst round 1 % of the requests left more than ${number(lateP99Ms)} ms late (their latency counts it).`,
      foreignRatio.median > FOREIGN_RATIO && `other programs used ${percent(foreignRatio.median)} of the cores.`,
    ];
    return said.filter((line) => line !== false).map((line) => `${group}, ${loop} loop, ${title}: ${line}`);
  });
  if (tools["nginx"] === null) lines.push("nginx could not be had: there is nothing to hold the edge against.");
  if (rounds < 6) lines.push(`${rounds} rounds are too few to go by: run it with more.`);
  return lines;
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}
