import { gainHeatMaps } from "../../analysis/charts/gain-heat-maps.ts";
import { FEW, groupsOf, timesOf } from "../../analysis/loads/groups.ts";
import { judge } from "../../analysis/statistics/allocation.ts";
import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { type Polyline, zeroLine } from "../../analysis/statistics/zero-line.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { LoadRow } from "../../model/load-row.ts";

/** One cell of the grid: HTTP/2's mean over HTTP/3's, and what the edge measured there. */
export type GridCell = ReturnType<typeof gridCells>[number];

const WINNERS = { a: "h2", b: "h3", tie: "tie", more: "tie" } as const;

export function gridCells(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number) {
  const groups = Map.groupBy(groupsOf(experiment, rows, seed), ({ cell }) => cell);
  const byCell = Map.groupBy(rows, ({ cell }) => cell);
  return experiment.cells.map(({ id, congestion, network: { rateMbps, delayMs, lossRatio } }) => {
    const own = byCell.get(id) ?? [];
    const [a, b] = [timesOf(own, id, "fixed-h2", "download"), timesOf(own, id, "fixed-h3", "download")];
    const h3 = groups.get(id)?.find(({ arm }) => arm === "fixed-h3");
    const n = Math.min(a.length, b.length);
    const { first, cap } = experiment.allocation;
    const random = seededRandom(seed, "winner", id);
    return {
      cell: id,
      congestion,
      rateMbps,
      delayMs,
      lossPercent: Number((lossRatio * 100).toFixed(6)),
      /** Loads an arm that count. */
      n,
      /** mean h2 / mean h3: above 1 HTTP/3 is faster. Undefined where too few loads count. */
      ratio: n < FEW ? undefined : ratioOfMeansInterval(a, b, { random: seededRandom(seed, "grid", id) }),
      /**
       * Which is faster, by the rule that decided how often to measure (analysis/statistics/allocation.ts): a plain interval
       * of data that were looked at several times would name winners too often.
       */
      winner: n < FEW ? undefined : WINNERS[judge({ a, b, min: Math.min(first, n), cap, random }).verdict],
      h2: groups.get(id)?.find(({ arm }) => arm === "fixed-h2"),
      h3,
      /** As the edge measured it over QUIC, which loses like TCP and tells each loss: the mean of all loads. */
      measuredRttMs: h3?.quic.rttMs ?? undefined,
      measuredLossPercent: h3?.quic.lossRatio == null ? undefined : h3.quic.lossRatio * 100,
    };
  });
}

/** Where HTTP/2 and HTTP/3 take equally long at one rate, over delay in ms and loss in percent. */
export function zeroLinesOf(cells: readonly GridCell[]): Polyline[] {
  const unique = (values: readonly number[]): number[] => [...new Set(values)].toSorted((a, b) => a - b);
  const losses = unique(cells.map(({ lossPercent }) => lossPercent));
  const delays = unique(cells.map(({ delayMs }) => delayMs));
  const lattice = losses.map((y) =>
    delays.map((x) => {
      const ratio = cells.find(({ lossPercent, delayMs }) => lossPercent === y && delayMs === x)?.ratio;
      // On the log: twice as fast and half as fast are equally far from the line.
      return { x, y, gain: ratio && Math.log(ratio.estimate) };
    }),
  );
  return zeroLine(lattice);
}

type ByRate = readonly (readonly [rateMbps: number, cells: readonly GridCell[]])[];

/** Where each protocol wins, for each congestion control: counts, every cell, heat maps of the gain, and the lines where it is zero. */
export function gridReport(
  { cells }: { readonly cells: readonly GridCell[] },
  { experiment: { cells: asked } }: Pick<LoadsRecorded, "experiment">,
): Report {
  const sizeMB = (asked[0]?.imageBytes ?? 0) / 1e6;
  const byCongestion = [...Map.groupBy(cells, ({ congestion }) => congestion)].map(([congestion, own]) => {
    const byRate = [...Map.groupBy(own, ({ rateMbps }) => rateMbps)].toSorted(([a], [b]) => a - b);
    return { congestion, own, byRate };
  });
  return {
    values: {
      congestions: byCongestion.map(({ congestion, own, byRate }) => ({
        congestion,
        counts: countsTable(byRate),
        cells: cellsTable(own),
      })),
    },
    pictures: byCongestion.map(({ congestion, byRate }) => ({
      file: `gain-${congestion}.svg`,
      spec: gainMaps(byRate, `${sizeMB} MB, TCP with ${congestion}`),
    })),
  };
}

function gainMaps(byRate: ByRate, of: string) {
  return gainHeatMaps(
    byRate.map(([rateMbps, at]) => ({
      rateMbps,
      cells: at.map(({ ratio, ...cell }) => ({ ...cell, ratio: ratio?.estimate, tie: cell.winner === "tie" })),
      zeroLine: zeroLinesOf(at),
    })),
    {
      title: `HTTP/2's load time over HTTP/3's: ${of}`,
      subtitle: "Above 1 HTTP/3 is faster; the line is where they are equal.",
    },
  );
}

function countsTable(byRate: ByRate): string {
  const winners = [
    ["h3", "cells where HTTP/3 wins"],
    ["h2", "where HTTP/2 wins"],
    ["tie", "ties"],
    [undefined, "without a figure"],
  ] as const;
  return tableOf(byRate, [
    ["rate", ([rateMbps]) => `${rateMbps} Mbit/s`],
    ...winners.map(([name, title]): Column<ByRate[number]> => [
      title,
      ([, cells]) => String(cells.filter(({ winner }) => winner === name).length),
    ]),
    ["mean n an arm", ([, cells]) => number(mean(cells.map(({ n }) => n)))],
  ]);
}

function cellsTable(cells: readonly GridCell[]): string {
  return tableOf(cells, [
    ["cell", ({ rateMbps, lossPercent, delayMs }) => `${rateMbps} Mbit/s, ${lossPercent} %, ${delayMs} ms`],
    ["n", ({ n }) => String(n)],
    ["h2 ms", ({ h2 }) => number(h2?.meanMs.estimate)],
    ["h3 ms", ({ h3 }) => number(h3?.meanMs.estimate)],
    ["h2 / h3", ratioText],
    ["RTT ms, h3", ({ measuredRttMs }) => number(measuredRttMs)],
    ["loss, h3", ({ measuredLossPercent: loss }) => percent(loss === undefined ? undefined : loss / 100)],
  ]);
}

/** Where too few loads count, those left out for a busy core tell at least what this machine could do. */
function ratioText({ ratio, winner, h2, h3 }: GridCell): string {
  if (ratio !== undefined)
    return `${number(ratio.estimate)} (${number(ratio.low)} to ${number(ratio.high)})${winner === "tie" ? " tie" : ""}`;
  if (h2?.busyMeanMs == null && h3?.busyMeanMs == null) return "-";
  return `busy: ${number(h2?.busyMeanMs ?? h2?.meanMs.estimate)} / ${number(h3?.busyMeanMs ?? h3?.meanMs.estimate)} ms`;
}
