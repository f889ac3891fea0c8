import { NOTHING } from "../../analysis/statistics/round-figure.ts";
import { number, percent, withQuartiles } from "../../analysis/tables/format.ts";
import type { Loop } from "../../model/request-plan.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import { CALLER_SETUPS } from "./mix.ts";
import { type Subject, SUBJECT_SETUPS, SUBJECTS } from "./subjects.ts";
import type { ApiLoadSummary, FigureName, SubjectResult } from "./summary.ts";

/** The values of report.md. */
export function apiLoadValues(summary: ApiLoadSummary) {
  const { command, day, machine, rounds, seconds, warmSeconds } = summary;
  return {
    command,
    day,
    versions: { go: machine.go.replace("go", ""), workerd: machine.workerd, node: machine.node, k6: machine.k6 },
    machine: `kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${machine.commit}`,
    cores: machine.cores,
    rounds,
    seconds,
    warmSeconds,
    pages: {
      rate: rateOf(summary, "pages"),
      clients: SUBJECT_SETUPS.pages.openClients,
      load: Math.round(summary.openLoadRatio * 100),
      figures: table(summary, "open", PAGES, [
        ...figures(LATENCIES),
        { title: "workerd, of a core", cell: ofACore },
        { title: "pages", cell: ({ answers, failures }) => count(answers + failures) },
        { title: "errors", cell: ({ failures }) => count(failures) },
      ]),
      ratios: table(summary, "open", PAGES.slice(1), ratios(LATENCIES)),
    },
    callers: callersTable(summary),
    deciding: {
      rate: rateOf(summary, "pass"),
      openClients: SUBJECT_SETUPS.pass.openClients,
      closedClients: summary.closedClients,
      open: table(summary, "open", DECIDING, figures(LATENCIES)),
      closed: table(summary, "closed", DECIDING, [
        ...figures(COSTS),
        { title: "answers per core second", cell: ({ answersPerCoreSecond }) => withQuartiles(answersPerCoreSecond) },
        { title: "decisions per core second", cell: decisionsPerCoreSecond },
      ]),
      beside: SUBJECT_SETUPS.pass.title,
      openRatios: table(summary, "open", ["decide-1", "decide-100"], ratios(LATENCIES)),
      closedRatios: table(summary, "closed", ["decide-1", "decide-100"], ratios(COSTS)),
    },
    shortfalls: shortfalls(summary),
    foreign: percent(Math.max(...summary.results.map(({ foreignRatio }) => foreignRatio.median))),
  };
}

function callersTable({ callers }: ApiLoadSummary): string {
  return markdownTable(
    ["", "beside", "a second", "latency, median, ms", "latency, p99, ms", "calls", "errors"],
    callers.map(({ caller, beside, rate, latencyMedianMs, latencyP99Ms, answers, failures }) => [
      CALLER_SETUPS[caller].title,
      SUBJECT_SETUPS[beside].title,
      String(rate),
      withQuartiles(latencyMedianMs),
      withQuartiles(latencyP99Ms),
      count(answers + failures),
      count(failures),
    ]),
  ).trimEnd();
}

const PAGES = SUBJECTS.filter((subject) => subject.startsWith("pages"));
const DECIDING = ["pass", "decide-1", "decide-100"] as const;

interface Column {
  readonly title: string;
  readonly cell: (result: SubjectResult) => string;
}

const LATENCIES = [
  { figure: "latencyMedianMs", title: "latency, median, ms" },
  { figure: "latencyP90Ms", title: "latency, p90, ms" },
  { figure: "latencyP99Ms", title: "latency, p99, ms" },
] as const satisfies readonly FigureColumn[];
const COSTS = [
  { figure: "requestsPerSecond", title: "answers/s" },
  { figure: "workerdCpuUs", title: "CPU of workerd, us" },
  { figure: "frontCpuUs", title: "CPU of the edge, us" },
] as const satisfies readonly FigureColumn[];

interface FigureColumn {
  readonly figure: FigureName;
  readonly title: string;
}

const figures = (columns: readonly FigureColumn[]): Column[] =>
  columns.map(({ figure, title }) => ({
    title,
    cell: (result) => withQuartiles(result.figures[figure] ?? NOTHING),
  }));

const ratios = (columns: readonly FigureColumn[]): Column[] =>
  columns.map(({ figure, title }) => ({
    title: title.replace(/, (ms|us)$/, ""),
    cell: (result) => withQuartiles(result.figures[figure]?.ratio ?? NOTHING),
  }));

function table(summary: ApiLoadSummary, loop: Loop, subjects: readonly Subject[], columns: readonly Column[]): string {
  return markdownTable(
    ["", ...columns.map(({ title }) => title)],
    subjects.map((subject) => {
      const result = resultOf(summary, loop, subject);
      return [SUBJECT_SETUPS[subject].title, ...columns.map(({ cell }) => (result === undefined ? "-" : cell(result)))];
    }),
  ).trimEnd();
}

function resultOf({ results }: ApiLoadSummary, loop: Loop, subject: Subject): SubjectResult | undefined {
  return results.find((result) => result.loop === loop && result.subject === subject);
}

function rateOf(summary: ApiLoadSummary, subject: Subject): string {
  return number(resultOf(summary, "open", subject)?.rate).replace(/\.0+$/, "");
}

function decisionsPerCoreSecond({ subject, answersPerCoreSecond: { median, low, high } }: SubjectResult): string {
  const { decisions } = SUBJECT_SETUPS[subject];
  if (decisions === 0) return "-";
  return withQuartiles({ median: median * decisions, low: low * decisions, high: high * decisions });
}

function ofACore({ workerdBusyRatio: { median, low, high } }: SubjectResult): string {
  return `${percent(median)} (${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)})`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** From here on k6 itself was late: latencies say less. */
const LATE_MS = 5;
/** Of the cores, from which on other programs are in the figures. */
const FOREIGN_RATIO = 0.05;

export function shortfalls(summary: ApiLoadSummary): string[] {
  const lines: string[] = [];
  for (const { loop, subject, failures, dropped, answers, lateP99Ms, foreignRatio } of summary.results) {
    const where = `${SUBJECT_SETUPS[subject].title}, ${loop} loop`;
    if (failures > 0)
      lines.push(`${where}: ${count(failures)} of ${count(answers + failures)} were not answered as they should be.`);
    if (dropped > 0) lines.push(`${where}: ${count(dropped)} requests were not made, as every client still waited.`);
    if (lateP99Ms !== null && lateP99Ms > LATE_MS)
      lines.push(
        `${where}: in the worst round 1 % of the requests left more than ${number(lateP99Ms)} ms late (their latency counts it).`,
      );
    if (foreignRatio.median > FOREIGN_RATIO)
      lines.push(`${where}: other programs used ${percent(foreignRatio.median)} of the cores.`);
  }
  for (const { caller, beside, failures, answers } of summary.callers)
    if (failures > 0)
      lines.push(
        `${CALLER_SETUPS[caller].title}, beside ${SUBJECT_SETUPS[beside].title}: ${count(failures)} of ${count(answers + failures)} were not answered as they should be.`,
      );
  if (summary.rounds < 6) lines.push(`${summary.rounds} rounds are too few to go by: run it with more.`);
  return lines;
}
