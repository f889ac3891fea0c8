import { gainHeatMaps } from "../../analysis/charts/gain-heat-maps.ts";
import { zeroLines } from "../../analysis/charts/zero-lines.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import { type Coordinates, type GridCell, zeroLinesAt } from "./grid.ts";

type ByRate = readonly (readonly [rateMbps: number, cells: readonly GridCell[]])[];

/** What zero lines are drawn over. */
export const COORDINATES = {
  configured: {
    of: ({ delayMs, lossPercent }) => ({ x: delayMs, y: lossPercent }),
    subtitle: "Over the delay and loss that were configured.",
  },
  measured: {
    of: ({ measuredRttMs, measuredLossPercent }) => ({ x: measuredRttMs, y: measuredLossPercent }),
    subtitle: "Over the RTT and loss that the edge measured on HTTP/3, its own congestion's included.",
    xTitle: "measured RTT (ms)",
    yTitle: "measured loss (%)",
  },
} as const satisfies Record<string, { of: Coordinates; subtitle: string; xTitle?: string; yTitle?: string }>;

/** Where each protocol wins, for each congestion control: counts, every cell, heat maps of the gain, and the lines where it is zero. */
export function gridReport({ cells }: { readonly cells: readonly GridCell[] }, sizeMB: number) {
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
    pictures: byCongestion.flatMap(({ congestion, own, byRate }) => {
      const of = `${sizeMB} MB, TCP with ${congestion}`;
      return [
        { file: `gain-${congestion}.svg`, spec: gainMaps(byRate, of) },
        ...(["configured", "measured"] as const).map((name) => ({
          file: `zero-lines-${name}-${congestion}.svg`,
          spec: linesOver(name, own, byRate, of),
        })),
      ];
    }),
  };
}

function gainMaps(byRate: ByRate, of: string) {
  return gainHeatMaps(
    byRate.map(([rateMbps, at]) => ({
      rateMbps,
      cells: at.map(({ ratio, ...cell }) => ({ ...cell, ratio: ratio?.estimate, tie: cell.winner === "tie" })),
      zeroLine: zeroLinesAt(at, COORDINATES.configured.of),
    })),
    {
      title: `HTTP/2's load time over HTTP/3's: ${of}`,
      subtitle: "Above 1 HTTP/3 is faster; the line is where they are equal.",
    },
  );
}

function linesOver(name: keyof typeof COORDINATES, own: readonly GridCell[], byRate: ByRate, of: string) {
  const { of: coordinates, ...text } = COORDINATES[name];
  const endsOf = (axis: "x" | "y") => [0, Math.max(...own.map((cell) => coordinates(cell)[axis] ?? 0))] as const;
  return zeroLines(
    byRate.map(([rateMbps, at]) => ({ rateMbps, pieces: zeroLinesAt(at, coordinates) })),
    { title: `Where HTTP/2 and HTTP/3 are equally fast: ${of}`, ...text, x: endsOf("x"), y: endsOf("y") },
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
    ["mean n an arm", ([, cells]) => number(cells.reduce((sum, { n }) => sum + n, 0) / cells.length)],
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
