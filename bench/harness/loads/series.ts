import type { Start } from "../../model/recorded-run.ts";
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
  readonly experiment: string;
  readonly command: string;
  readonly starts: readonly Start[];
  readonly rows: number;
  readonly series: readonly Series[] | undefined;
  readonly cells: readonly SeriesCell[];
}

export function seriesSummary({ name, experiment, command, starts, rows, seed }: LoadsRecorded): SeriesSummary {
  const cells = seriesCells(experiment, rows, seed);
  return { experiment: name, command, starts, rows: rows.length, series: experiment.series, cells };
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
  const measured = cells.flatMap(({ label, congestion, ratio }) =>
    ratio === undefined
      ? []
      : [
          {
            label,
            of: congestion,
            ratio: ratio.estimate,
            low: Math.max(ratio.low, ratio.estimate / FAR_RATIO),
            high: Math.min(ratio.high, ratio.estimate * FAR_RATIO),
          },
        ],
  );
  const hollow = (published?.points ?? [])
    .filter(({ label }) => series.points.some((point) => point.label === label))
    .map(({ label, h2Ms, h3Ms }) => ({ label, of: "published", ratio: h2Ms / h3Ms }));
  return ratioSeries([...measured, ...hollow], {
    title: series.title,
    axis: series.axis,
    labels: series.points.map(({ label }) => label),
  });
}

/** A row for each place: both protocols' means and their ratio, for each congestion control, beside the published. */
function ratiosTable(series: Series, cells: readonly SeriesCell[], published: PublishedSeries | undefined): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const rows = series.points.map(({ label }) => {
    const beside = published?.points.find((point) => point.label === label);
    return [
      label,
      ...(published === undefined
        ? []
        : beside === undefined
          ? ["-", "-", "-"]
          : [number(beside.h2Ms), number(beside.h3Ms), number(beside.h2Ms / beside.h3Ms)]),
      ...congestions.flatMap((congestion) => {
        const cell = cells.find((one) => one.label === label && one.congestion === congestion);
        const isFew = cell?.ratio === undefined;
        return [
          timeOf(cell?.h2, isFew),
          timeOf(cell?.h3, isFew),
          cell?.ratio === undefined ? "-" : withInterval(cell.ratio),
        ];
      }),
    ];
  });
  return figuresTable(
    [
      series.axis,
      ...(published === undefined ? [] : ["published: h2 ms", "h3 ms", "h2 / h3"]),
      ...congestions.flatMap((congestion) => [`${congestion}: h2 ms`, "h3 ms", "h2 / h3"]),
    ],
    rows,
  );
}

/** Where few loads count, the time of those that were left out for a busy core, if there are any. */
function timeOf(group: Group | undefined, isFew: boolean): string {
  if (isFew && group?.busyMeanMs != null) return `busy: ${number(group.busyMeanMs)}`;
  return group === undefined || group.n === 0 ? "-" : number(group.meanMs.estimate);
}

/** A row for each place and protocol: what the published tables have, and where the time went. */
function groupsTable(series: Series, cells: readonly SeriesCell[]): string {
  const rows = cells.flatMap((cell) =>
    [cell.h2, cell.h3].flatMap((group) => (group === undefined ? [] : [groupRow(cell, group)])),
  );
  const heads = [
    series.axis,
    "protocol",
    "bytes",
    "n",
    "failed",
    "timeouts",
    "mean ms",
    "median ms",
    "sd ms",
    "kB/s",
    "handshake ms",
    "first byte ms",
    "packets lost a load",
    "RTT ms",
    "edge CPU ms",
    "client CPU ms",
  ];
  return figuresTable(heads, rows);
}

function groupRow({ label, congestion, bytes }: SeriesCell, group: Group): string[] {
  const isQuic = group.arm !== "fixed-h2";
  const path = isQuic ? group.quic : group.tcp;
  return [
    label,
    isQuic ? `h3 (beside ${congestion})` : `h2 ${congestion}`,
    size(bytes),
    String(group.n),
    percent(group.failures / Math.max(1, group.failures + group.n)),
    String(group.timeouts),
    withInterval(group.meanMs),
    number(group.medianMs.estimate),
    number(group.sdMs),
    number(bytes / group.meanMs.estimate),
    // Of a connection that was there before, both were before what is timed.
    number(timesLastPage(group.flow) ? null : group.handshakeMs),
    number(timesLastPage(group.flow) ? null : group.ttfbMs),
    number(path.packetsLost),
    number(path.rttMs),
    number(group.edgeCpuMs),
    number(group.clientCpuMs),
  ];
}
