import { renderSvg } from "../analysis/charts/chart.ts";
import type { Report } from "./experiment.ts";
import { fillFile } from "../analysis/tables/template.ts";

/** An experiment's folder holds its report's template. */
export function reportText(experiment: string, { values }: Report): string {
  return `${fillFile(`bench/experiments/${experiment}/report.md`, values).trimEnd()}\n`;
}

/** Writes summary.json, report.md and the pictures, and returns the names of these files. */
export async function writeResults(
  experiment: string,
  summary: object,
  report: Report,
  write: (name: string, text: string) => void,
): Promise<string[]> {
  write("summary.json", `${JSON.stringify(summary, undefined, 2)}\n`);
  write("report.md", reportText(experiment, report));
  const { pictures = [] } = report;
  for (const { file, spec } of pictures) write(file, await renderSvg(spec));
  return ["summary.json", "report.md", ...pictures.map(({ file }) => file)];
}
