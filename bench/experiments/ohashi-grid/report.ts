import { renderSvg } from "../../analysis/charts/chart.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { gainHeatMaps } from "../../analysis/charts/gain-heat-maps.ts";
import { type GridCell, gridCells, zeroLinesAt } from "./grid.ts";
import type { Group } from "../../analysis/loads/groups.ts";
import { reportHead } from "../../harness/loads/head.ts";
import type { Report, ReportInput } from "../../harness/loads/report.ts";
import { zeroLines } from "../../analysis/charts/zero-lines.ts";

/** The report of the grid: where each protocol wins, in heat maps, lines and counts. */
export async function gridReport(input: ReportInput): Promise<Report> {
  const { experiment, rows, starts, command, seed } = input;
  const cells = gridCells(experiment, rows, seed);
  const byCongestion = Map.groupBy(cells, ({ congestion }) => congestion);
  const sizeMB = (experiment.cells[0]?.imageBytes ?? 0) / 1e6;
  const pictures: { file: string; svg: string }[] = [];
  const sections: string[] = [];
  for (const [congestion, own] of byCongestion) {
    const byRate = [...Map.groupBy(own, ({ rateMbps }) => rateMbps)].toSorted(([a], [b]) => a - b);
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
    const files = [
      { file: `gain-${congestion}.svg`, about: `Heat maps of the gain, TCP with ${congestion}`, spec: maps },
      {
        file: `zero-lines-configured-${congestion}.svg`,
        about: "Zero lines over configured delay and loss",
        spec: configured,
      },
      { file: `zero-lines-measured-${congestion}.svg`, about: "Zero lines over measured RTT and loss", spec: measured },
    ];
    for (const { file, spec } of files) pictures.push({ file, svg: await renderSvg(spec) });
    sections.push(
      [
        `## TCP congestion control: ${congestion}`,
        countsTable(byRate),
        ...files.map(({ file, about }) => `![${about}](${file})`),
        cellsTable(own),
      ].join("\n\n"),
    );
  }
  return {
    summary: { experiment: experiment.name, command, starts, rows: rows.length, cells },
    markdown: [reportHead(input), ...sections, BESIDE_PUBLISHED].join("\n\n"),
    pictures,
  };
}

function countsTable(byRate: readonly (readonly [number, readonly GridCell[]])[]): string {
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
  return `<details><summary>All cells</summary>\n\n${figuresTable(heads, rows)}\n</details>`;
}

/** Where too few loads count, those left out for a busy core tell at least what this machine could do. */
function busyTimes(h2: Group | undefined, h3: Group | undefined): string {
  return h2?.busyMeanMs == null && h3?.busyMeanMs == null
    ? "-"
    : `busy: ${number(h2?.busyMeanMs ?? h2?.meanMs.estimate)} / ${number(h3?.busyMeanMs ?? h3?.meanMs.estimate)} ms`;
}

const BESIDE_PUBLISHED = `## Beside the published grid

The source gives its grid as pictures, of which these findings can be compared: at low rates HTTP/3 wins nearly everywhere;
the higher the rate, the larger the region of low delay and low loss where HTTP/2 wins. The tables above count both. Where
they differ, look first at the congestion control (theirs was CUBIC, and QUIC's that of draft-24), then at the object's size
(theirs had 10 MB: in smaller ones handshakes and slow start weigh more), then at what delay and loss mean for each direction.
Winners are named by a rule that allows for looking several times (stats/README.md has how often it errs); at the edge of a
region single cells may be wrong.
`;
