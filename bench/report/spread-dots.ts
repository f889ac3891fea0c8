import type { TopLevelSpec } from "vega-lite";
import { armScales, armsIn, FAINT, type ArmName } from "./theme.ts";

export interface RatioDot {
  /** A line of the picture, such as a network or a kind of request. Lines keep the order of the rows. */
  readonly label: string;
  readonly arm: ArmName;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

export interface SpreadDotsText {
  readonly title: string;
  readonly subtitle?: string;
  /** What the ratio is of, such as "load time, ratio to the bare edge". */
  readonly xTitle: string;
}

/** Ratios with their 95 % intervals, arm by arm; the line at 1 is "no difference". */
export function spreadDots(rows: readonly RatioDot[], { title, subtitle, xTitle }: SpreadDotsText): TopLevelSpec {
  const arms = armsIn(rows);
  const scales = armScales(arms);
  const color = { field: "arm", type: "nominal", title: "arm", scale: scales.colour } as const;
  return {
    title: {
      text: title,
      subtitle: [...(subtitle === undefined ? [] : [subtitle]), "Marks: estimate; bars: 95 % interval."],
    },
    width: 560,
    height: { step: 14 + 14 * arms.length, for: "position" },
    data: { values: rows.filter(({ ratio }) => Number.isFinite(ratio)) },
    layer: [
      {
        data: { values: [{}] },
        mark: { type: "rule", color: FAINT, strokeDash: [4, 3] },
        encoding: { x: { datum: 1 } },
      },
      {
        encoding: {
          y: { field: "label", type: "nominal", sort: null, title: null, axis: { labelLimit: 260, grid: false } },
          yOffset: { field: "arm", type: "nominal", scale: { domain: arms } },
          x: { field: "ratio", type: "quantitative", title: xTitle, scale: { type: "log", nice: false, padding: 20 } },
        },
        layer: [
          {
            transform: [{ filter: "isFinite(datum.low) && isFinite(datum.high) && datum.low > 0" }],
            mark: { type: "rule", strokeWidth: 2 },
            encoding: { x: { field: "low", type: "quantitative" }, x2: { field: "high" }, color },
          },
          {
            mark: { type: "point", filled: true, size: 80, opacity: 1 },
            encoding: { color, shape: { field: "arm", type: "nominal", title: "arm", scale: scales.shape } },
          },
        ],
      },
    ],
  };
}
