import { fillFile } from "../../analysis/tables/template.ts";
import type { LoadsRecorded } from "./recorded.ts";
import { timesLastPage } from "../../model/flow.ts";
import type { Series } from "../../model/series.ts";
import { number, percent, size, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Group } from "../../analysis/loads/groups.ts";
import {
  meanText,
  publishedBeside,
  type PublishedSeries,
  type SeriesCell,
  seriesCells,
} from "../../analysis/loads/series-cells.ts";
import { ratioPoint } from "../../analysis/loads/ratio.ts";
import { ratioSeries } from "../../analysis/charts/ratio-series.ts";

/** What an experiment finds whose cells form series: HTTP/2 beside HTTP/3 at every place. */
export function seriesSummary({ experiment, rows, seed }: LoadsRecorded): { readonly cells: readonly SeriesCell[] } {
  return { cells: seriesCells(experiment, rows, seed) };
}

/** By the series' ids: its title, its picture and its tables; `published` stands beside the series that it is of. */
export function seriesReport(
  cells: readonly SeriesCell[],
  { experiment: { series: all = [] } }: LoadsRecorded,
  published?: PublishedSeries,
) {
  const known = published === undefined ? undefined : publishedBeside(published, cells);
  const parts = all.map((series) => ({
    series,
    own: cells.filter((cell) => cell.series === series.id),
    beside: known?.series === series.id ? known : undefined,
    file: `ratio-${series.id}.svg`,
  }));
  return {
    values: {
      series: Object.fromEntries(
        parts.map(({ series: { id, title, axis }, own, beside, file }) => {
          const figures = fillFile("bench/harness/loads/series.md", {
            title,
            published: beside === undefined ? "" : `${beside.source}): ${beside.findings.join("; ")}`,
            file,
            ratios: ratiosTable(axis, own, beside),
            figures: groupsTable(axis, own),
          });
          return [id, { title, figures: figures.trimEnd() }];
        }),
      ),
    },
    pictures: parts.map(({ series, own, beside, file }) => ({ file, spec: pictureOf(series, own, beside) })),
  };
}

function pictureOf({ title, axis, points }: Series, cells: readonly SeriesCell[], published?: PublishedSeries) {
  const labels = points.map(({ label }) => label);
  const measured = cells.flatMap(({ label, congestion: of, ratio }) =>
    ratio === undefined ? [] : [{ label, of, ...ratioPoint(ratio) }],
  );
  const hollow = (published?.points ?? [])
    .filter(({ label }) => labels.includes(label))
    .map(({ label, h2Ms, h3Ms }) => ({ label, of: "published", ratio: h2Ms / h3Ms }));
  return ratioSeries([...measured, ...hollow], { title, axis, labels });
}

/** A row for each place: both protocols' means and their ratio, for each congestion control, beside the published. */
function ratiosTable(head: string, cells: readonly SeriesCell[], published: PublishedSeries | undefined): string {
  const publishedAt = (of: string) => published?.points.find(({ label }) => label === of);
  const columns = [...new Set(cells.map(({ congestion }) => congestion))].flatMap((congestion): Column<string>[] => {
    const at = (of: string) => cells.find((one) => one.label === of && one.congestion === congestion);
    const mean = (of: string, protocol: "h2" | "h3"): string => {
      const cell = at(of);
      return meanText(cell?.[protocol], cell?.ratio === undefined);
    };
    return [
      [`${congestion}: h2 ms`, (label) => mean(label, "h2")],
      ["h3 ms", (label) => mean(label, "h3")],
      ["h2 / h3", (label) => withInterval(at(label)?.ratio)],
    ];
  });
  const publishedColumns: Column<string>[] = [
    ["published: h2 ms", (label) => number(publishedAt(label)?.h2Ms)],
    ["h3 ms", (label) => number(publishedAt(label)?.h3Ms)],
    ["h2 / h3", (label) => number((publishedAt(label)?.h2Ms ?? Number.NaN) / (publishedAt(label)?.h3Ms ?? Number.NaN))],
  ];
  return tableOf(
    [...new Set(cells.map(({ label }) => label))],
    [[head, (label) => label], ...(published === undefined ? [] : publishedColumns), ...columns],
  );
}

/** A row for each place and protocol: what the published tables have, and where the time went. */
function groupsTable(axis: string, cells: readonly SeriesCell[]): string {
  const rows = cells.flatMap((cell) =>
    [cell.h2, cell.h3].flatMap((group) => (group === undefined ? [] : [{ ...cell, group }])),
  );
  const isQuic = ({ arm }: Group): boolean => arm !== "fixed-h2";
  const pathOf = (group: Group) => (isQuic(group) ? group.quic : group.tcp);
  // Of a connection that was there before, both were before what is timed.
  const ofSetup = ({ flow }: Group, ms: number | null): string => number(timesLastPage(flow) ? null : ms);
  return tableOf(rows, [
    [axis, ({ label }) => label],
    ["protocol", ({ group, congestion }) => (isQuic(group) ? `h3 (beside ${congestion})` : `h2 ${congestion}`)],
    ["bytes", ({ bytes }) => size(bytes)],
    ["n", ({ group: { n } }) => String(n)],
    ["failed", ({ group: { failures, n } }) => percent(failures / Math.max(1, failures + n))],
    ["timeouts", ({ group: { timeouts } }) => String(timeouts)],
    ["mean ms", ({ group: { meanMs } }) => withInterval(meanMs)],
    ["median ms", ({ group: { medianMs } }) => number(medianMs.estimate)],
    ["sd ms", ({ group: { sdMs } }) => number(sdMs)],
    ["kB/s", ({ bytes, group: { meanMs } }) => number(bytes / meanMs.estimate)],
    ["handshake ms", ({ group }) => ofSetup(group, group.handshakeMs)],
    ["first byte ms", ({ group }) => ofSetup(group, group.ttfbMs)],
    ["packets lost a load", ({ group }) => number(pathOf(group).packetsLost)],
    ["RTT ms", ({ group }) => number(pathOf(group).rttMs)],
    ["edge CPU ms", ({ group: { edgeCpuMs } }) => number(edgeCpuMs)],
    ["client CPU ms", ({ group: { clientCpuMs } }) => number(clientCpuMs)],
  ]);
}
