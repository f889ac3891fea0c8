import type { Report } from "../experiment.ts";
import { fillFile } from "../../analysis/tables/template.ts";
import type { LoadsRecorded } from "./recorded.ts";
import { timesLastPage } from "../../model/flow.ts";
import type { Series } from "../../model/series.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { FAR_RATIO, number, percent, size, withInterval } from "../../analysis/tables/format.ts";
import type { Group } from "../../analysis/loads/groups.ts";
import type { PublishedSeries } from "../../analysis/loads/published-series.ts";
import { ratioSeries } from "../../analysis/charts/ratio-series.ts";
import { type SeriesCell, seriesCells } from "../../analysis/loads/series-cells.ts";

/** What an experiment finds whose cells form series: HTTP/2 beside HTTP/3 at every place. */
export interface SeriesSummary {
  readonly series: readonly Series[] | undefined;
  readonly cells: readonly SeriesCell[];
}

export function seriesSummary({ experiment, rows, seed }: LoadsRecorded): SeriesSummary {
  return { series: experiment.series, cells: seriesCells(experiment, rows, seed) };
}

/** A section, a picture and tables for each series; `published` stands beside the series that it is of. */
export function seriesSections(
  { series: all = [], cells }: SeriesSummary,
  published: PublishedSeries | undefined,
): { readonly sections: string; readonly pictures: NonNullable<Report["pictures"]> } {
  const parts = all.map((series) => {
    const own = cells.filter((cell) => cell.series === series.id);
    return { series, own, beside: published?.series === series.id ? published : undefined };
  });
  return {
    sections: fillFile("bench/harness/loads/series.md", {
      series: parts.map(({ series, own, beside }) => ({
        title: series.title,
        about: series.about,
        published: beside === undefined ? "" : `${beside.source}): ${beside.findings.join("; ")}`,
        file: fileOf(series),
        ratios: ratiosTable(series, own, beside),
        figures: groupsTable(series, own),
      })),
    }).trimEnd(),
    pictures: parts.map(({ series, own, beside }) => ({ file: fileOf(series), spec: pictureOf(series, own, beside) })),
  };
}

function fileOf({ id }: Series): string {
  return `ratio-${id}.svg`;
}

function pictureOf(series: Series, cells: readonly SeriesCell[], published: PublishedSeries | undefined) {
  const measured = cells.flatMap(({ label, congestion: of, ratio }) => {
    if (ratio === undefined) return [];
    const { estimate, low, high } = ratio;
    const far = { low: estimate / FAR_RATIO, high: estimate * FAR_RATIO };
    return [{ label, of, ratio: estimate, low: Math.max(low, far.low), high: Math.min(high, far.high) }];
  });
  const labels = series.points.map(({ label }) => label);
  const hollow = (published?.points ?? [])
    .filter(({ label }) => labels.includes(label))
    .map(({ label, h2Ms, h3Ms }) => ({ label, of: "published", ratio: h2Ms / h3Ms }));
  return ratioSeries([...measured, ...hollow], { title: series.title, axis: series.axis, labels });
}

/** A row for each place: both protocols' means and their ratio, for each congestion control, beside the published. */
function ratiosTable(series: Series, cells: readonly SeriesCell[], published: PublishedSeries | undefined): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const rows = series.points.map(({ label }) => {
    const beside = published?.points.find((point) => point.label === label);
    const told = beside === undefined ? [] : [beside.h2Ms, beside.h3Ms, beside.h2Ms / beside.h3Ms];
    return [
      label,
      ...(published === undefined ? [] : [told[0], told[1], told[2]].map(number)),
      ...congestions.flatMap((congestion) => {
        const cell = cells.find((one) => one.label === label && one.congestion === congestion);
        const ratio = cell?.ratio === undefined ? "-" : withInterval(cell.ratio);
        return [timeOf(cell, "h2"), timeOf(cell, "h3"), ratio];
      }),
    ];
  });
  const publishedHeads = published === undefined ? [] : ["published: h2 ms", "h3 ms", "h2 / h3"];
  const heads = congestions.flatMap((congestion) => [`${congestion}: h2 ms`, "h3 ms", "h2 / h3"]);
  return figuresTable([series.axis, ...publishedHeads, ...heads], rows);
}

/** Where few loads count, the time of those that were left out for a busy core, if there are any. */
function timeOf(cell: SeriesCell | undefined, protocol: "h2" | "h3"): string {
  const group = cell?.[protocol];
  if (cell?.ratio === undefined && group?.busyMeanMs != null) return `busy: ${number(group.busyMeanMs)}`;
  return group === undefined || group.n === 0 ? "-" : number(group.meanMs.estimate);
}

/** What the published tables have of a protocol at a place, and where the time went. */
const FIGURES: Readonly<Record<string, (group: Group, cell: SeriesCell) => string>> = {
  protocol: (group, { congestion }) => (isQuic(group) ? `h3 (beside ${congestion})` : `h2 ${congestion}`),
  bytes: (_, { bytes }) => size(bytes),
  n: ({ n }) => String(n),
  failed: ({ n, failures }) => percent(failures / Math.max(1, failures + n)),
  timeouts: ({ timeouts }) => String(timeouts),
  "mean ms": ({ meanMs }) => withInterval(meanMs),
  "median ms": ({ medianMs }) => number(medianMs.estimate),
  "sd ms": ({ sdMs }) => number(sdMs),
  "kB/s": ({ meanMs }, { bytes }) => number(bytes / meanMs.estimate),
  // Of a connection that was there before, both were before what is timed.
  "handshake ms": ({ flow, handshakeMs }) => number(timesLastPage(flow) ? null : handshakeMs),
  "first byte ms": ({ flow, ttfbMs }) => number(timesLastPage(flow) ? null : ttfbMs),
  "packets lost a load": (group) => number(pathOf(group).packetsLost),
  "RTT ms": (group) => number(pathOf(group).rttMs),
  "edge CPU ms": ({ edgeCpuMs }) => number(edgeCpuMs),
  "client CPU ms": ({ clientCpuMs }) => number(clientCpuMs),
};

function groupsTable(series: Series, cells: readonly SeriesCell[]): string {
  const rows = cells.flatMap((cell) =>
    [cell.h2, cell.h3].flatMap((group) =>
      group === undefined ? [] : [[cell.label, ...Object.values(FIGURES).map((figure) => figure(group, cell))]],
    ),
  );
  return figuresTable([series.axis, ...Object.keys(FIGURES)], rows);
}

function isQuic({ arm }: Group): boolean {
  return arm !== "fixed-h2";
}

function pathOf(group: Group): Group["tcp"] {
  return isQuic(group) ? group.quic : group.tcp;
}
