import type { PublishedPoint, PublishedSeries } from "../analysis/loads/published-series.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number } from "../analysis/tables/format.ts";
import type { SeriesSummary, Timed } from "./recorded.ts";

/** The series that has a published one, beside it. */
export function seriesTable({ cells }: SeriesSummary, head: string, published: PublishedSeries): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const labels = [...new Set(cells.flatMap(({ series, label }) => (series === published.series ? [label] : [])))];
  const rows = labels.map((label) => [
    label,
    ...publishedCells(published.points.find((point) => point.label === label)),
    ...congestions.flatMap((congestion) => {
      const cell = cells.find(
        (one) => one.series === published.series && one.label === label && one.congestion === congestion,
      );
      // Of loads that kept a core busy the machine's time is told, and no ratio.
      if (cell?.ratio === undefined) return [...[cell?.h2, cell?.h3].map(busyText), "-"];
      return [...[cell.h2, cell.h3].map((group) => secondsText(group?.meanMs.estimate)), ratioText(cell.ratio)];
    }),
  ]);
  const heads = [
    "published: h2 s",
    "h3 s",
    "h2 / h3",
    ...congestions.flatMap((name) => [`${name}: h2 s`, "h3 s", "h2 / h3"]),
  ];
  return figuresTable([head, ...heads], rows);
}

function publishedCells(point: PublishedPoint | undefined): string[] {
  if (point === undefined) return ["-", "-", "-"];
  const { h2Ms, h3Ms } = point;
  return [secondsText(h2Ms), secondsText(h3Ms), number(h2Ms / h3Ms)];
}

export function secondsText(ms: number | null | undefined): string {
  return ms == null ? "-" : number(ms / 1000);
}

function busyText(group: Timed | undefined): string {
  return group?.busyMeanMs == null ? "-" : `busy: ${secondsText(group.busyMeanMs)}`;
}

export function ratioText({ estimate, low, high }: Interval): string {
  return `${number(estimate)} (${number(low)} to ${number(high)})`;
}
