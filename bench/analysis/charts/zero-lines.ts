import type { TopLevelSpec } from "vega-lite";
import type { Polyline } from "../statistics/zero-line.ts";
import { FAINT, figures, LINE_STYLES, look, names, PIECES } from "./theme.ts";

export interface RateLine {
  readonly rateMbps: number;
  /** x in ms (one-way delay as configured, or RTT as measured), y in percent of loss. */
  readonly pieces: readonly Polyline[];
}

export interface ZeroLinesText {
  readonly title: string;
  readonly subtitle: string;
  /** "delay, one way (ms)" by default; "measured RTT (ms)" for measured coordinates. */
  readonly xTitle?: string;
  /** "loss (%)" by default. */
  readonly yTitle?: string;
  /** Ends of the axes: the grid's, so that lines that end within it are seen to. */
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

/** The zero lines of all rates in one picture: above a line HTTP/3 is faster, as far as a line has one such side. */
export function zeroLines(lines: readonly RateLine[], text: ZeroLinesText): TopLevelSpec {
  const ordered = lines.toSorted((one, other) => one.rateMbps - other.rateMbps);
  const { color, strokeDash } = look(
    "rate",
    ordered.map((line, index) => ({
      colour: FAINT,
      ...LINE_STYLES[index % LINE_STYLES.length],
      name: nameOf(line),
    })),
    { symbolType: "stroke", symbolSize: 700, symbolStrokeWidth: 2.4 },
  );
  const axis = (field: string, title: string, domain: number[]) =>
    figures(field, { title, scale: { nice: false, domain } });
  const x = axis("x", text.xTitle ?? "delay, one way (ms)", [...text.x]);
  const y = axis("y", text.yTitle ?? "loss (%)", [...text.y]);
  const without = ordered.filter(({ pieces }) => pieces.length === 0).map(nameOf);
  return {
    title: {
      text: text.title,
      subtitle: [text.subtitle, ...(without.length === 0 ? [] : [`No line within the grid: ${without.join(", ")}.`])],
    },
    width: 640,
    height: 420,
    layer: [
      {
        data: {
          values: ordered.flatMap((line) => points(line.pieces).map((point) => ({ ...point, rate: nameOf(line) }))),
        },
        mark: { type: "line", strokeWidth: 2.4, strokeCap: "butt" },
        encoding: { ...PIECES, x, y, color, strokeDash },
      },
      // White under the label, then the label: readable where lines are close.
      ...[{ stroke: "white", strokeWidth: 5, strokeJoin: "round" as const }, {}].map((halo) => ({
        data: { values: ordered.flatMap((line, index) => labelOf(line, index, ordered.length)) },
        mark: { type: "text" as const, fontSize: 12, fontWeight: "bold" as const, ...halo },
        encoding: { x, y, text: names("rate"), color },
      })),
    ],
  };
}

function nameOf({ rateMbps }: RateLine): string {
  return `${rateMbps} Mbit/s`;
}

/** The points of a zero line; Vega draws a line for each of its pieces. */
export function points(pieces: readonly Polyline[]) {
  return pieces.flatMap((piece, index) => piece.map((point, order) => ({ ...point, piece: index, order })));
}

/** On the longest piece, each rate a little further along it than the one before, so that labels do not pile up. */
function labelOf(line: RateLine, index: number, count: number): object[] {
  const longest = line.pieces.toSorted((one, other) => extent(other) - extent(one))[0];
  if (longest === undefined) return [];
  const upwards = (longest[0]?.y ?? 0) <= (longest.at(-1)?.y ?? 0) ? longest : longest.toReversed();
  const position = ((index + 1) / (count + 1)) * (upwards.length - 1);
  const from = upwards[Math.floor(position)] ?? { x: 0, y: 0 };
  const to = upwards[Math.ceil(position)] ?? from;
  const way = position - Math.floor(position);
  return [{ rate: nameOf(line), x: from.x + way * (to.x - from.x), y: from.y + way * (to.y - from.y) }];
}

/** How far a piece reaches over the axes, in grid steps of about 5 ms and 1 %: which of several to label. */
function extent(piece: Polyline): number {
  const reach = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
  return reach(piece.map(({ x }) => x)) / 5 + reach(piece.map(({ y }) => y));
}
