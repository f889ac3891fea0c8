import { renderSvg } from "../analysis/charts/chart.ts";
import { fillFile } from "../analysis/tables/template.ts";
import type { Report } from "./experiment.ts";
import { jsonText, writeIn } from "./run-folder.ts";

/** An experiment's folder holds its report's template. */
export function reportText(experiment: string, { values }: Report): string {
  return `${fillFile(`bench/experiments/${experiment}/report.md`, values).trimEnd()}\n`;
}

/** Writes summary.json, report.md and the pictures. @throws UserError where the folder cannot be written */
export async function writeResults(folder: string, experiment: string, summary: object, report: Report): Promise<void> {
  writeIn(folder, "summary.json", jsonText(summary));
  writeIn(folder, "report.md", reportText(experiment, report));
  for (const { file, spec } of report.pictures ?? []) writeIn(folder, file, await renderSvg(spec));
}
