import type { TopLevelSpec } from "vega-lite";
import { FAINT, figures, look, measuredBeside, names, REFERENCE, type Style } from "./theme.ts";

export interface RatioPoint {
  readonly label: string;
  /** `cubic`, `bbr`, ..., `published`, or a server's QUIC. */
  readonly of: string;
  readonly ratio: number;
  readonly low?: number;
  readonly high?: number;
}

const STYLES: readonly Style[] = [
  { name: "cubic", colour: "#0072b2", shape: "circle" },
  { name: "bbr", colour: "#d55e00", shape: "square" },
  { name: "reno", colour: "#009e73", shape: "triangle-up" },
  { name: "quic-go", colour: "#0072b2", shape: "circle" },
  { name: "quiche cubic", colour: "#009e73", shape: "triangle-up" },
  { name: "quiche bbr2", colour: "#d55e00", shape: "square" },
  { name: "published", colour: "#000000", shape: "diamond" },
];

const WIDTH = 560;

/** HTTP/2's mean load time over HTTP/3's at the places of a series, with 95 % intervals; hollow where it was published. */
export function ratioSeries(
  points: readonly RatioPoint[],
  { title, axis, labels, of = "server's TCP" }: { title: string; axis: string; labels: readonly string[]; of?: string },
): TopLevelSpec {
  const styles = STYLES.filter(({ name }) => points.some((point) => point.of === name));
  const { color, shape } = look("of", styles, { orient: "top", title: of, symbolSize: 110 });
  const hasPublished = styles.some(({ name }) => name === "published");
  const bounds = [1, ...points.flatMap(({ ratio, low = ratio, high = ratio }) => [low, high])];
  return {
    title: {
      text: title,
      subtitle: `Above 1 HTTP/3 is faster. Bars: 95 % intervals.${hasPublished ? " Hollow: published." : ""}`,
    },
    width: WIDTH,
    height: 300,
    data: { values: points.map((point) => ({ ...point })) },
    encoding: {
      x: names("label", { title: axis, scale: { domain: [...labels] }, axis: { labelAngle: 0, grid: false } }),
      xOffset: names("of", { scale: { domain: color.scale.domain, paddingInner: 0.6, paddingOuter: 0.6 } }),
      y: figures("ratio", {
        title: "HTTP/2's mean load time over HTTP/3's",
        scale: { type: "log", domain: [Math.min(...bounds) / 1.02, Math.max(...bounds) * 1.02], nice: false },
        axis: { tickCount: 7, format: ".3~r" },
      }),
      color,
    },
    layer: [
      {
        data: { values: [{ ratio: 1 }] },
        mark: REFERENCE,
        encoding: { x: { value: 0 }, x2: { value: WIDTH }, xOffset: { value: 0 }, color: { value: FAINT } },
      },
      ...measuredBeside("datum.of === 'published'", shape),
    ],
  };
}
