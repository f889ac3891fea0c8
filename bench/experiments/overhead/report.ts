import { number, percent, size, withQuartiles } from "../../analysis/tables/format.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import { OVERHEAD_SETUPS } from "../../lab/loopback-arms.ts";
import { NOTHING } from "../../analysis/statistics/round-figure.ts";
import { overheadPicture } from "./picture.ts";
import { overheadReadmeTable } from "./readme-table.ts";
import { LOOPS, type Size } from "../../model/request-plan.ts";
import type { OverheadRow } from "./row.ts";
import type { RunFolder } from "../../harness/run-folder.ts";
import type { FigureName, OverheadResult, OverheadSummary } from "./summary.ts";

const PICTURE = "overhead.svg";

/** Writes summary.json, the picture and report.md; returns the names of the files. */
export async function writeOverheadReport(
  summary: OverheadSummary,
  folder: Pick<RunFolder<OverheadRow>, "write">,
): Promise<string[]> {
  folder.write("summary.json", `${JSON.stringify(summary, undefined, 2)}\n`);
  folder.write(PICTURE, await renderSvg(overheadPicture(summary)));
  folder.write("report.md", overheadReport(summary));
  return ["report.md", PICTURE, "summary.json", "rows.csv"];
}

export function overheadReport(summary: OverheadSummary): string {
  const { machine, clients, openRate, rounds, seconds, warmSeconds, sizesBytes } = summary;
  const sizes = Object.keys(sizesBytes) as Size[];
  const short = shortfalls(summary);
  return `# overhead: what a request costs through the real edge, over TLS and HTTP/2

\`${summary.command}\`, ${summary.day}.

- Stack: Go ${machine.go.replace("go", "")} (the edge), workerd ${machine.workerd}, nginx ${machine.nginx ?? "not to be had: its arm is left out"}, node ${machine.node} (the origin), k6 ${machine.k6} (stock k6/http).
- Machine: kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${machine.commit}.
  Clients, servers and origin share it, over the loopback.
- ${rounds} rounds; in each every arm once in random order, for ${seconds} s, after ${warmSeconds} s in which every connection is made and
  used twice. All arms run side by side with programs of their own, before one origin, which all reach over TCP.
- Closed loop: ${clients.closed.small} connections, each asks again when it is answered. Open loop: requests are due at one rate for all
  arms, ${Math.round(summary.openLoadRatio * 100)} % of what the slowest arm did in the closed loop (${sizes.map((name) => `${size(sizesBytes[name])}: ${openRate[name]}/s over ${clients.open[name]} connections in turn`).join("; ")});
  latency counts from when a request was due, so that a client that is kept waiting hides nothing.
- Figures are medians over rounds, in brackets the middle half of the rounds. Ratios are taken within a round: to the
  edge alone, and for workerd's CPU time to the worker that only passes on. All intervals are in summary.json.

![](${PICTURE})

## In short

${overheadReadmeTable(summary)}
${LOOPS.flatMap((loop) => sizes.map((name) => section(summary, loop, name))).join("\n")}
## What falls short

${short.length === 0 ? "Nothing that was looked for.\n" : short.map((line) => `- ${line}\n`).join("")}
## Notes

- A connection is a client with an address, and a /24, of its own; each measurement brings new ones. In the closed loop
  ${clients.closed.small} clients open up to a hundred pages a second each, which no visitor does; the open loop's ${clients.open.small} open about
  one a second. So its CPU times are the ones to go by.
- Handshakes are made in the seconds that do not count. A real visitor's page often brings one: beside it a worker's
  share would be smaller than here.
- The page under \`adaptive\` is offered HTTP/3 each time (the published times with the protocols exchanged): the dearest
  answer. What the worker writes down later, once in ten seconds and client at most, is in the figures only where it
  fell into the seconds that count.
- Requests per second of the closed loop are those of a machine that also runs the client and the origin: a server that
  needs twice the CPU does more than half of them. CPU times are the servers' own.
- The CPU time of an arm's edge also holds what a slower upstream makes it wait and wake for.
- nginx: ${machine.cores} workers, as many as the Go runtime has threads; keep-alive on both sides without an end, no log, no
  compression, no temporary files. It takes no readings of its connections and sets no request.cf.
- Programs that are no part of this used ${percent(Math.max(...summary.results.map(({ foreignRatio }) => foreignRatio.median)))} of the cores in the busiest line, as the median of its rounds (the kernel's own work is in it).
`;
}

const COLUMNS: readonly { title: string; name: FigureName }[] = [
  { title: "requests/s", name: "requestsPerSecond" },
  { title: "latency, median, ms", name: "latencyMedianMs" },
  { title: "latency, p90, ms", name: "latencyP90Ms" },
  { title: "latency, p99, ms", name: "latencyP99Ms" },
  { title: "CPU of the edge, us", name: "frontCpuUs" },
  { title: "CPU of workerd, us", name: "workerdCpuUs" },
];

function section(summary: OverheadSummary, loop: (typeof LOOPS)[number], name: Size): string {
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
    );
  return `## ${size(summary.sizesBytes[name])}, ${loop} loop${loop === "open" ? `, ${summary.openRate[name]} requests/s` : ""}

${table((result, figure) => withQuartiles(result.figures[figure] ?? NOTHING), true)}
Ratios:

${table((result, figure) => withQuartiles(result.figures[figure]?.ratio ?? NOTHING).replace("1.00 (1.00 to 1.00)", "1"), false)}`;
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
