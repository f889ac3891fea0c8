import type { TopLevelSpec } from "vega-lite";
import type { Point, Polyline } from "../statistics/zero-line.ts";
import { LINE_STYLES } from "./theme.ts";

export interface RateLine {
  readonly rateMbps: number;
  /** x in ms (one-way delay as configured, or RTT as measured), y in percent of loss. */
  readonly pieces: readonly Polyline[];
}

export interface ZeroLinesText {
  readonly title: string;
  readonly subtitle?: string;
  /** "delay, one way (ms)" by default; "measured RTT (ms)" for measured coordinates. */
  readonly xTitle?: string;
  /** "loss (%)" by default. */
  readonly yTitle?: string;
  /** Ends of the axes: give the grid's, so that lines that end within it are seen to. */
  readonly x?: readonly [number, number];
  readonly y?: readonly [number, number];
}

/** The zero lines of all rates in one picture: above a line HTTP/3 is faster, as far as a line has one such side. */
export function zeroLines(lines: readonly RateLine[], text: ZeroLinesText): TopLevelSpec {
  const ordered = lines.toSorted((one, other) => one.rateMbps - other.rateMbps);
  const names = ordered.map(nameOf);
  const styles = ordered.map((_, index) => LINE_STYLES[index % LINE_STYLES.length]);
  const colour = {
    field: "rate",
    type: "nominal",
    title: "rate",
    scale: { domain: names, range: styles.map((style) => style?.colour ?? "black") },
    legend: LINE_LEGEND,
  } as const;
  const encoding = {
    x: {
      field: "x",
      type: "quantitative",
      title: text.xTitle ?? "delay, one way (ms)",
      scale: { nice: text.x === undefined, ...(text.x === undefined ? {} : { domain: [...text.x] }) },
    },
    y: {
      field: "y",
      type: "quantitative",
      title: text.yTitle ?? "loss (%)",
      scale: { nice: text.y === undefined, ...(text.y === undefined ? {} : { domain: [...text.y] }) },
    },
  } as const;
  const without = ordered.filter(({ pieces }) => pieces.length === 0).map(nameOf);
  return {
    title: {
      text: text.title,
      subtitle: [
        ...(text.subtitle === undefined ? [] : [text.subtitle]),
        ...(without.length === 0 ? [] : [`No line within the grid: ${without.join(", ")}.`]),
      ],
    },
    width: 640,
    height: 420,
    layer: [
      {
        data: { values: ordered.flatMap((line) => pointsOf(line)) },
        mark: { type: "line", strokeWidth: 2.4, strokeCap: "butt" },
        encoding: {
          ...encoding,
          color: colour,
          strokeDash: {
            field: "rate",
            type: "nominal",
            title: "rate",
            scale: { domain: names, range: styles.map((style) => style?.dash ?? []) },
            legend: LINE_LEGEND,
          },
          detail: { field: "piece", type: "nominal" },
          order: { field: "order", type: "quantitative" },
        },
      },
      // White under the label, then the label: readable where lines are close.
      ...["white", undefined].map((halo) => ({
        data: { values: ordered.flatMap((line, index) => labelOf(line, index, ordered.length)) },
        mark: {
          type: "text" as const,
          fontSize: 12,
          fontWeight: "bold" as const,
          ...(halo === undefined ? {} : { stroke: halo, strokeWidth: 5, strokeJoin: "round" as const }),
        },
        encoding: { ...encoding, text: { field: "rate", type: "nominal" as const }, color: colour },
      })),
    ],
  };
}

const LINE_LEGEND = { symbolType: "stroke", symbolSize: 700, symbolStrokeWidth: 2.4 } as const;

function nameOf({ rateMbps }: RateLine): string {
  return `${rateMbps} Mbit/s`;
}

function pointsOf(line: RateLine): object[] {
  return line.pieces.flatMap((piece, index) =>
    piece.map(({ x, y }, order) => ({ rate: nameOf(line), piece: `${line.rateMbps}-${index}`, order, x, y })),
  );
}

/** On the longest piece, each rate a little further along it than the one before, so that labels do not pile up. */
function labelOf(line: RateLine, index: number, count: number): object[] {
  const longest = line.pieces.toSorted((one, other) => extent(other) - extent(one))[0];
  if (longest === undefined || longest.length === 0) return [];
  const upwards = (longest[0]?.y ?? 0) <= (longest.at(-1)?.y ?? 0) ? longest : longest.toReversed();
  return [{ rate: nameOf(line), ...along(upwards, (index + 1) / (count + 1)) }];
}

function along(points: readonly Point[], share: number): Point {
  const position = share * (points.length - 1);
  const from = points[Math.floor(position)] ?? { x: 0, y: 0 };
  const to = points[Math.ceil(position)] ?? from;
  const way = position - Math.floor(position);
  return { x: from.x + way * (to.x - from.x), y: from.y + way * (to.y - from.y) };
}

/** How far a piece reaches over the axes, in grid steps of about 5 ms and 1 %: which of several to label. */
function extent(piece: Polyline): number {
  const reach = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
  return piece.length === 0 ? 0 : reach(piece.map(({ x }) => x)) / 5 + reach(piece.map(({ y }) => y));
}
