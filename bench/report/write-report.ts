import type { LoadRow } from "../run/row.ts";
import type { RunFolder } from "../run/run-folder.ts";
import { calibrationReport } from "./calibration-report.ts";
import { evaluationReport } from "./evaluation-report.ts";
import { gridReport } from "./grid-report.ts";
import { latencyFindings } from "./latency-findings.ts";
import type { Report, ReportInput } from "./report.ts";
import { seriesReport } from "./series-report.ts";
import { stacksReport } from "./stacks-report.ts";
import { tcpCongestionReport } from "./tcp-congestion-report.ts";

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
