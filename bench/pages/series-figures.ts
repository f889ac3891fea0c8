import { number, percent } from "../analysis/tables/format.ts";
import type { SeriesSummary } from "./recorded.ts";

/** Both experiments' sizes of files, as their series label them. */
export const SIZES = [
  ["10", "10 kB"],
  ["100", "100 kB"],
  ["1000", "1 MB"],
  ["10000", "10 MB"],
] as const;

/** `1.76 at 10 kB, 1.50 at 100 kB` */
export function ratiosAt(
  summary: SeriesSummary,
  series: string,
  labels: readonly (readonly [string, string])[],
  congestion: string,
): string {
  return labels.map(([label, name]) => `${ratioAt(summary, series, label, congestion)} at ${name}`).join(", ");
}

/** How much faster HTTP/2 is, with cubic. */
export function aheadAt(summary: SeriesSummary, label: string, series = "limits"): string {
  return percent(1 / (cellAt(summary, series, label, "cubic").ratio?.estimate ?? Number.NaN) - 1);
}

type SeriesCell = SeriesSummary["cells"][number];

export function cellAt({ cells }: SeriesSummary, series: string, label: string, congestion: string): SeriesCell {
  const found = cells.find((cell) => cell.series === series && cell.label === label && cell.congestion === congestion);
  if (found === undefined) throw new Error(`There is no ${label} in ${series} with ${congestion}.`);
  return found;
}

export function ratioAt(summary: SeriesSummary, series: string, label: string, congestion: string): string {
  const { ratio } = cellAt(summary, series, label, congestion);
  if (ratio === undefined) throw new Error(`There is no ratio of ${series} at ${label} with ${congestion}.`);
  return number(ratio.estimate);
}
