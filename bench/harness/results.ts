import { fillFile } from "../analysis/tables/template.ts";
import type { Report } from "./experiment.ts";

/** An experiment's folder holds its report's template. */
export function reportText(experiment: string, { values }: Report): string {
  return `${fillFile(`bench/experiments/${experiment}/report.md`, values).trimEnd()}\n`;
}
