import type { LoadRow } from "./model/load-row.ts";
import type { RunFolder } from "./harness/run-folder.ts";
import { calibrationReport } from "./experiments/calibration/report.ts";
import { evaluationReport } from "./harness/loads/evaluation-report.ts";
import { gridReport } from "./experiments/ohashi-grid/report.ts";
import { latencyFindings } from "./experiments/latency-sweep/findings.ts";
import type { Report, ReportInput } from "./harness/loads/report.ts";
import { seriesReport } from "./harness/loads/series-report.ts";
import { stacksReport } from "./experiments/stacks/report.ts";
import { tcpCongestionReport } from "./experiments/tcp-congestion/report.ts";

/** Experiments that have a report of their own; the others run all arms and get the evaluation's. */
const REPORTS: Readonly<Record<string, (input: ReportInput) => Promise<Report>>> = {
  "ohashi-grid": gridReport,
  calibration: calibrationReport,
  "bandwidth-limits": (input) => seriesReport(input),
  stacks: stacksReport,
  "tcp-congestion": tcpCongestionReport,
  "latency-sweep": (input) => seriesReport(input, latencyFindings),
};

/** Writes summary.json, report.md and the pictures into the run's folder, and returns all its files' names. */
export async function writeReport(input: ReportInput, folder: Pick<RunFolder<LoadRow>, "write">): Promise<string[]> {
  const { summary, markdown, pictures } = await (REPORTS[input.experiment.name] ?? evaluationReport)(input);
  folder.write("summary.json", `${JSON.stringify(summary, undefined, 2)}\n`);
  folder.write("report.md", `${markdown.trimEnd()}\n`);
  for (const { file, svg } of pictures) folder.write(file, svg);
  return ["report.md", "summary.json", "rows.csv", ...pictures.map(({ file }) => file)];
}
