import { NOTHING } from "../../analysis/statistics/bootstrap.ts";
import { number, percent, withQuartiles } from "../../analysis/tables/format.ts";
import { type Column as ColumnOf, tableOf } from "../../analysis/tables/table-of.ts";
import { lastMachine, runValues } from "../machine.ts";
import { type FigureName, FIGURES, type LoopbackResult, type LoopbackSummary } from "./summary.ts";

type Column = ColumnOf<LoopbackResult>;

export function figureColumns(names: readonly FigureName[]): Column[] {
  return names.map((name) => [FIGURES[name], ({ figures }) => withQuartiles(figures[name] ?? NOTHING)]);
}

/** Ratios within a round; 1 for what the others are held against. */
export function ratioColumns(names: readonly FigureName[]): Column[] {
  return names.map((name) => [
    FIGURES[name].replace(/, (ms|us)$/, ""),
    ({ figures }) => withQuartiles(figures[name]?.ratio ?? NOTHING).replace("1.00 (1.00 to 1.00)", "1"),
  ]);
}

export function resultsTable(results: readonly LoopbackResult[], columns: readonly Column[]): string {
  return tableOf(results, [["", ({ title }) => title], ...columns]);
}

/** The values that every report.md has. */
export function headValues(summary: LoopbackSummary) {
  const { day, starts, rounds, seconds, results } = summary;
  return {
    ...runValues(summary),
    day,
    cores: lastMachine(starts).cores,
    rounds,
    seconds,
    shortfalls: shortfalls(summary),
    foreign: percent(Math.max(...results.map(({ foreignRatio }) => foreignRatio.median))),
  };
}

/** From here on k6 itself was late: latencies say less. */
const LATE_MS = 5;
/** Of the cores, from which on other programs are in the figures. */
const FOREIGN_RATIO = 0.05;

export function shortfalls({ results, starts, rounds }: LoopbackSummary): string[] {
  const lines = results.flatMap((result) => {
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
  if (starts.at(-1)?.tools?.["nginx"] === null)
    lines.push("nginx could not be had: there is nothing to hold the edge against.");
  if (rounds < 6) lines.push(`${rounds} rounds are too few to go by: run it with more.`);
  return lines;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
