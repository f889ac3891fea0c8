import { gainHeatMaps } from "../../analysis/charts/gain-heat-maps.ts";
import { zeroLines } from "../../analysis/charts/zero-lines.ts";
import type { Group } from "../../analysis/loads/groups.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { type GridCell, zeroLinesAt } from "./grid.ts";

type ByRate = readonly (readonly [rateMbps: number, cells: readonly GridCell[]])[];

/** The cells of each congestion control, by rate. */
function byCongestion(cells: readonly GridCell[]): { congestion: string; own: readonly GridCell[]; byRate: ByRate }[] {
  return [...Map.groupBy(cells, ({ congestion }) => congestion)].map(([congestion, own]) => ({
    congestion,
    own,
    byRate: [...Map.groupBy(own, ({ rateMbps }) => rateMbps)].toSorted(([a], [b]) => a - b),
  }));
}

/** Where each protocol wins: counts, and every cell. */
export function gridValues(cells: readonly GridCell[]) {
  return {
    congestions: byCongestion(cells).map(({ congestion, own, byRate }) => ({
      congestion,
      counts: countsTable(byRate),
      cells: cellsTable(own),
    })),
  };
}

/** Heat maps of the gain, and the lines where it is zero, over what was configured and over what the edge measured. */
export function gridPictures(cells: readonly GridCell[], sizeMB: number) {
  return byCongestion(cells).flatMap(({ congestion, own, byRate }) => {
    const of = `${sizeMB} MB, TCP with ${congestion}`;
    const maps = gainHeatMaps(
      byRate.map(([rateMbps, at]) => ({
        rateMbps,
        cells: at.map(({ delayMs, lossPercent, ratio, winner }) => ({
          delayMs,
          lossPercent,
          ratio: ratio?.estimate,
          tie: winner === "tie",
        })),
        zeroLine: zeroLinesAt(at, "configured"),
      })),
      {
        title: `HTTP/2's load time over HTTP/3's: ${of}`,
        subtitle: "Above 1 HTTP/3 is faster; the line is where they are equal.",
      },
    );
    const ends = (values: readonly (number | undefined)[]): readonly [number, number] => [
      0,
      Math.max(...values.map((value) => value ?? 0)),
    ];
    const configured = zeroLines(
      byRate.map(([rateMbps, at]) => ({ rateMbps, pieces: zeroLinesAt(at, "configured") })),
      {
        title: `Where HTTP/2 and HTTP/3 are equally fast: ${of}`,
        subtitle: "Over the delay and loss that were configured.",
        x: ends(own.map(({ delayMs }) => delayMs)),
        y: ends(own.map(({ lossPercent }) => lossPercent)),
      },
    );
    const measured = zeroLines(
      byRate.map(([rateMbps, at]) => ({ rateMbps, pieces: zeroLinesAt(at, "measured") })),
      {
        title: `Where HTTP/2 and HTTP/3 are equally fast: ${of}`,
        subtitle: "Over the RTT and loss that the edge measured on HTTP/3, its own congestion's included.",
        xTitle: "measured RTT (ms)",
        yTitle: "measured loss (%)",
        x: ends(own.map(({ measuredRttMs }) => measuredRttMs)),
        y: ends(own.map(({ measuredLossPercent }) => measuredLossPercent)),
      },
    );
    return [
      { file: `gain-${congestion}.svg`, spec: maps },
      { file: `zero-lines-configured-${congestion}.svg`, spec: configured },
      { file: `zero-lines-measured-${congestion}.svg`, spec: measured },
    ];
  });
}

function countsTable(byRate: ByRate): string {
  const rows = byRate.map(([rateMbps, cells]) => {
    const count = (predicate: (cell: GridCell) => boolean): string =>
      String(cells.filter((cell) => predicate(cell)).length);
    return [
      `${rateMbps} Mbit/s`,
      ...(["h3", "h2", "tie", undefined] as const).map((name) => count(({ winner }) => winner === name)),
      number(cells.reduce((sum, { n }) => sum + n, 0) / cells.length),
    ];
  });
  const heads = ["rate", "cells where HTTP/3 wins", "where HTTP/2 wins", "ties", "without a figure", "mean n an arm"];
  return figuresTable(heads, rows);
}

function cellsTable(cells: readonly GridCell[]): string {
  const rows = cells.map(
    ({ rateMbps, lossPercent, delayMs, n, ratio, winner, h2, h3, measuredRttMs, measuredLossPercent }) => [
      `${rateMbps} Mbit/s, ${lossPercent} %, ${delayMs} ms`,
      String(n),
      number(h2?.meanMs.estimate),
      number(h3?.meanMs.estimate),
      ratio === undefined
        ? busyTimes(h2, h3)
        : `${number(ratio.estimate)} (${number(ratio.low)} to ${number(ratio.high)})${winner === "tie" ? " tie" : ""}`,
      number(measuredRttMs),
      percent(measuredLossPercent === undefined ? undefined : measuredLossPercent / 100),
    ],
  );
  const heads = ["cell", "n", "h2 ms", "h3 ms", "h2 / h3", "RTT ms, h3", "loss, h3"];
  return figuresTable(heads, rows);
}

/** Where too few loads count, those left out for a busy core tell at least what this machine could do. */
function busyTimes(h2: Group | undefined, h3: Group | undefined): string {
  return h2?.busyMeanMs == null && h3?.busyMeanMs == null
    ? "-"
    : `busy: ${number(h2?.busyMeanMs ?? h2?.meanMs.estimate)} / ${number(h3?.busyMeanMs ?? h3?.meanMs.estimate)} ms`;
}
