import type { TopLevelSpec } from "vega-lite";
import type { Polyline } from "../statistics/zero-line.ts";
import { FAINT, figures, INK, names, panelTitle } from "./theme.ts";

export interface GainCell {
  readonly delayMs: number;
  readonly lossPercent: number;
  /** mean h2 / mean h3: above 1, HTTP/3 is faster. Undefined for a cell that was dropped or is missing. */
  readonly ratio: number | undefined;
  /** Whether its interval holds 1. */
  readonly tie: boolean;
}

export interface GainMap {
  readonly rateMbps: number;
  readonly cells: readonly GainCell[];
  /** x in ms of delay, y in percent of loss. */
  readonly zeroLine: readonly Polyline[];
}

/**
 * The gain over delay and loss, one map a rate: figures are (h2 - h3) / h3 in percent; colours are on the log of the
 * ratio, so that twice as fast looks as far from equal on either side. Hatched: a tie. A cross: dropped.
 */
export function gainHeatMaps(
  maps: readonly GainMap[],
  { title, subtitle }: { readonly title: string; readonly subtitle: string },
): TopLevelSpec {
  const reach = reachOf(maps);
  const columns = Math.min(3, maps.length);
  const side = maps.length === 1 ? 420 : 216;
  return {
    title: {
      text: title,
      subtitle: [
        subtitle,
        "Figures: (h2 - h3) / h3 in %. Orange: HTTP/3 is faster, purple: HTTP/2 is faster.",
        "Hatched: a tie. Black line: equal. ×: no result.",
      ],
    },
    columns,
    spacing: { row: 26, column: 22 },
    resolve: { scale: { x: "independent", y: "independent", color: "shared" } },
    concat: maps.map(({ rateMbps, cells, zeroLine }, index) => {
      const all = boxes(cells);
      const known = all.filter(({ log2 }) => log2 !== null);
      const losses = distinct(cells.map(({ lossPercent }) => lossPercent));
      const height = side / losses.length;
      // Off the centre: the line passes between neighbouring centres.
      const figure = { type: "text", fontSize: 11, dy: -0.26 * height } as const;
      const axis = (field: string, name: string | null, values: number[]) =>
        figures(field, {
          title: name,
          scale: { nice: false, zero: false },
          axis: { grid: false, format: "~f", values },
        });
      const box = {
        x: axis("left", "delay, one way (ms)", distinct(cells.map(({ delayMs }) => delayMs))),
        x2: { field: "right" },
        y: axis("bottom", index % columns === 0 ? "loss (%)" : null, losses),
        y2: { field: "top" },
      };
      return {
        title: panelTitle(`${rateMbps} Mbit/s`),
        width: side,
        height: side,
        layer: [
          {
            data: { values: known },
            mark: { type: "rect", stroke: "white", strokeWidth: 1 },
            encoding: {
              ...box,
              color: figures("log2", {
                scale: { scheme: "purpleorange", domain: [-reach, 0, reach], clamp: true },
                legend: {
                  title: "h2 / h3 load time",
                  values: legendFactors(reach).map((factor) => Math.log2(factor)),
                  labelOverlap: false,
                  labelExpr: "format(pow(2, datum.value), '.2~f') + '×'",
                  orient: "bottom",
                  gradientLength: 320,
                },
              }),
            },
          },
          {
            data: { values: all.filter(({ log2 }) => log2 === null) },
            mark: { type: "rect", stroke: "white", strokeWidth: 1, color: "#d9d9d9" },
            encoding: box,
          },
          {
            data: { values: known.filter(({ tie }) => tie) },
            // Three strokes across a box of 2 x 2, drawn as large as the cell.
            mark: {
              type: "point",
              shape: "M-1,0L0,-1M-1,1L1,-1M0,1L1,0",
              size: 0.9 * height ** 2,
              filled: false,
              stroke: FAINT,
              strokeWidth: 0.7,
              opacity: 0.8,
            },
            encoding: CENTRE,
          },
          {
            // Vega draws a line for each of its pieces.
            data: {
              values: zeroLine.flatMap((points, piece) => points.map((one, order) => ({ ...one, piece, order }))),
            },
            mark: { type: "line", color: "black", strokeWidth: 2.2, clip: true },
            encoding: { x: figures("x"), y: figures("y"), detail: names("piece"), order: figures("order") },
          },
          // The line passes through cells near 0, whose figures get a pale rim in about their own colour.
          {
            data: { values: known.filter(({ log2 }) => Math.abs(log2 ?? 0) < 0.25 * reach) },
            mark: { ...figure, stroke: "#f7f5f3", strokeWidth: 3, strokeJoin: "round" },
            encoding: { ...CENTRE, text: names("label") },
          },
          {
            data: { values: all },
            mark: figure,
            encoding: {
              ...CENTRE,
              text: names("label"),
              color: {
                condition: { test: `datum.log2 > ${0.72 * reach} || datum.log2 < ${-0.55 * reach}`, value: "white" },
                value: INK,
              },
            },
          },
        ],
      };
    }),
  };
}

const CENTRE = { x: figures("delayMs"), y: figures("lossPercent") };

/** Cells as boxes that meet half-way to their neighbours: a continuous axis, so that the zero line fits on it. */
function boxes(cells: readonly GainCell[]) {
  const delays = edgesAround(cells.map(({ delayMs }) => delayMs));
  const losses = edgesAround(cells.map(({ lossPercent }) => lossPercent));
  return cells.map(({ delayMs, lossPercent, ratio, tie }) => {
    const [left, right] = delays.get(delayMs) ?? [];
    const [bottom, top] = losses.get(lossPercent) ?? [];
    const log2 = ratio === undefined ? null : Math.log2(ratio);
    const label = ratio === undefined ? "×" : percent(ratio - 1);
    return { delayMs, lossPercent, left, right, bottom, top, log2, label, tie };
  });
}

function edgesAround(values: readonly number[]): Map<number, readonly [number, number]> {
  const sorted = distinct(values);
  return new Map(
    sorted.map((value, index) => {
      const halfWayTo = (other: number | undefined) => (other === undefined ? undefined : Math.abs(other - value) / 2);
      const [down, up] = [halfWayTo(sorted[index - 1]), halfWayTo(sorted[index + 1])];
      return [value, [value - (down ?? up ?? 0.5), value + (up ?? down ?? 0.5)]];
    }),
  );
}

function distinct(values: readonly number[]): number[] {
  return [...new Set(values)].toSorted((one, other) => one - other);
}

/** "+12", "-3", "0": whole percents fit a cell of 36 px. */
function percent(gain: number): string {
  const whole = Math.round(gain * 100);
  return whole > 0 ? `+${whole}` : whole < 0 ? `\u2212${-whole}` : "0";
}

/** The same number of doublings to either side: 0 stays in the middle. At most a factor of 8; beyond, colours clamp. */
function reachOf(maps: readonly GainMap[]): number {
  const ratios = maps.flatMap(({ cells }) => cells.flatMap(({ ratio }) => ratio ?? []));
  return Math.min(3, Math.max(0.5, ...ratios.map((ratio) => Math.abs(Math.log2(ratio)))));
}

function legendFactors(reach: number): readonly number[] {
  const factors = reach > 1.6 ? [2, 4, 8] : reach > 0.6 ? [1.5, 2, 3] : [1.1, 1.25, 1.4];
  const within = factors.filter((factor) => Math.log2(factor) <= reach);
  return [...within.map((factor) => 1 / factor), 1, ...within];
}
