import { NOTHING } from "../../analysis/statistics/round-figure.ts";
import { number, percent, withQuartiles } from "../../analysis/tables/format.ts";
import type { Loop } from "../../model/request-plan.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import type { RunFolder } from "../../harness/run-folder.ts";
import { CALLER_SETUPS } from "./mix.ts";
import type { ApiLoadRow } from "./row.ts";
import { type Subject, SUBJECT_SETUPS, SUBJECTS } from "./subjects.ts";
import type { ApiLoadSummary, FigureName, SubjectResult } from "./summary.ts";

/** Writes summary.json and report.md; returns the names of the files. */
export function writeApiLoadReport(summary: ApiLoadSummary, folder: Pick<RunFolder<ApiLoadRow>, "write">): string[] {
  folder.write("summary.json", `${JSON.stringify(summary, undefined, 2)}\n`);
  folder.write("report.md", apiLoadReport(summary));
  return ["report.md", "summary.json", "rows.csv"];
}

export function apiLoadReport(summary: ApiLoadSummary): string {
  const { machine, rounds, seconds, warmSeconds } = summary;
  const short = shortfalls(summary);
  const foreign = Math.max(...summary.results.map(({ foreignRatio }) => foreignRatio.median));
  return `# api-load: what calls of the API cost visitors, and what decisions cost

\`${summary.command}\`, ${summary.day}.

- Stack: Go ${machine.go.replace("go", "")} (the edge), workerd ${machine.workerd}, node ${machine.node} (the origin, the callers), k6 ${machine.k6} (stock k6/http).
- Machine: kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${machine.commit}.
  Clients, callers, edge, workerd and origin share it, over the loopback.
- ${rounds} rounds of each load, in random order, for ${seconds} s, after ${warmSeconds} s in which every connection is made and used twice. All through
  one edge, over TLS and HTTP/2, to one workerd with one worker.
- Figures are medians over rounds, in brackets the middle half of the rounds. Ratios are taken within a round. All
  intervals are in summary.json.

## Visitors while others call

Pages of 10 kB under \`adaptive\`, each with its look-up in a Durable Object and offered HTTP/3; ${rateOf(summary, "pages")} due per second over
${SUBJECT_SETUPS.pages.openClients} connections in turn, ${Math.round(summary.openLoadRatio * 100)} % of what they reach in a closed loop. Latency counts from when a page was due.

${table(summary, "open", PAGES, [
  ...figures(LATENCIES),
  { title: "workerd, of a core", cell: ofACore },
  { title: "pages", cell: ({ answers, failures }) => count(answers + failures) },
  { title: "errors", cell: ({ failures }) => count(failures) },
])}
Ratio to the same with nobody calling:

${table(summary, "open", PAGES.slice(1), ratios(LATENCIES))}
Other requests, as many as there are calls to the API, say what any callers would cost: the machine, the edge and workerd
have them to serve too. What the API costs is what pages wait longer beside it than beside them.

Who calls in the same seconds, each kind over a connection of its own; latency from when a call was due to the last byte:

${markdownTable(
  ["", "beside", "a second", "latency, median, ms", "latency, p99, ms", "calls", "errors"],
  summary.callers.map(({ caller, beside, rate: due, latencyMedianMs, latencyP99Ms, answers, failures }) => [
    CALLER_SETUPS[caller].title,
    SUBJECT_SETUPS[beside].title,
    String(due),
    withQuartiles(latencyMedianMs),
    withQuartiles(latencyP99Ms),
    count(answers + failures),
    count(failures),
  ]),
)}
## What decisions cost

Nobody else asks. Latency at ${rateOf(summary, "pass")} requests due per second for each of the three (an open loop, ${SUBJECT_SETUPS.pass.openClients} connections); the others of
${summary.closedClients} connections that never rest. A core second is a second of workerd's CPU time: what a core does that does nothing but
run workerd.

${table(summary, "open", DECIDING, figures(LATENCIES))}
${table(summary, "closed", DECIDING, [
  ...figures(COSTS),
  { title: "answers per core second", cell: ({ answersPerCoreSecond }) => withQuartiles(answersPerCoreSecond) },
  { title: "decisions per core second", cell: decisionsPerCoreSecond },
])}
Ratios to ${SUBJECT_SETUPS.pass.title}:

${table(summary, "open", ["decide-1", "decide-100"], ratios(LATENCIES))}
${table(summary, "closed", ["decide-1", "decide-100"], ratios(COSTS))}
## What falls short

${short.length === 0 ? "Nothing that was looked for.\n" : short.map((line) => `- ${line}\n`).join("")}
## Notes

- The worst case: here the API and the visitors share one workerd, and so one thread and one isolate; whatever a call takes,
  a page behind it waits for. On Cloudflare callers and visitors mostly meet in different isolates. And ${machine.cores} cores are shared by
  the visitors' client, the callers, the edge, workerd and the origin; a call's own client and connection cost the pages time too.
- Each activation is a new revision, and the isolate that takes it reads the policy anew. By turns it names two versions that say the
  same, so that no visitor's answer changes. Each push is a policy of 41 kB that was not there before.
- Wrong tokens come from an address of their own: after ten in a minute the rest is told to wait (429), which counts as
  right here.
- Decisions are asked without \`clientAddress\`: with one, each path costs three HMACs more. Paths come with loss, so that times are
  predicted.
- The answer to one path has about 440 bytes, that to 100 paths 42 kB (of a question of 10 kB), and the page that passes 10 kB:
  their sizes are in the edge's CPU time. The policy has a small lattice (published.json, its protocols exchanged).
- k6's clock has whole milliseconds: lateness below 1 ms does not count.
- Programs that are no part of this used ${percent(foreign)} of the cores in the busiest line, as the median of its rounds (the kernel's own work is in it).
`;
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
  );
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
