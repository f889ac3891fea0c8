import type { TopLevelSpec } from "vega-lite";
import { FAINT, INK } from "./theme.ts";

export interface RegretBar {
  readonly network: string;
  /** What the bar is of, such as "decision", "total", "to the free choice". At most four; they keep the rows' order. */
  readonly part: string;
  /** Ratios: 0.02 is 2 %. */
  readonly regret?: number | undefined;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** The published figure of the same part. */
  readonly published?: number | undefined;
  /** Whether neither choice is known to be wrong there: shown paler. */
  readonly tie?: boolean | undefined;
}

export interface RegretBarsText {
  readonly title: string;
  readonly subtitle?: string;
  /** "regret (% of load time)" by default. */
  readonly yTitle?: string;
}

const COLOURS = ["#009e73", "#56b4e9", "#e69f00", "#cc79a7"];

/** Regret by network: bars with 95 % intervals, a hollow diamond for what was published. */
export function regretBars(rows: readonly RegretBar[], { title, subtitle, yTitle }: RegretBarsText): TopLevelSpec {
  const parts = [...new Set(rows.map(({ part }) => part))];
  const networks = [...new Set(rows.map(({ network }) => network))];
  const values = rows.map(({ network, part, regret, low, high, published, tie }) => ({
    network,
    part,
    percent: inPercent(regret),
    low: inPercent(low),
    high: inPercent(high),
    published: inPercent(published),
    tie: tie === true,
  }));
  const notes = [
    "Bars: measured, with 95 % interval.",
    ...(values.some(({ published }) => published !== null) ? ["Diamonds: published."] : []),
    ...(values.some(({ tie }) => tie) ? ["Pale: a tie, where neither choice is known to be wrong."] : []),
  ];
  return {
    title: { text: title, subtitle: [...(subtitle === undefined ? [] : [subtitle]), ...notes] },
    width: { step: Math.max(12, Math.floor(560 / Math.max(1, networks.length * parts.length + networks.length))) },
    height: 340,
    data: { values },
    layer: [
      {
        encoding: {
          x: {
            field: "network",
            type: "nominal",
            sort: null,
            title: "network",
            scale: { domain: networks },
            axis: { labelAngle: networks.length > 4 ? -30 : 0, grid: false, labelLimit: 200 },
          },
          xOffset: { field: "part", type: "nominal", scale: { domain: parts } },
          y: { field: "percent", type: "quantitative", title: yTitle ?? "regret (% of load time)" },
        },
        layer: [
          {
            transform: [{ filter: "isValid(datum.percent)" }],
            mark: { type: "bar" },
            encoding: {
              color: {
                field: "part",
                type: "nominal",
                title: "regret",
                scale: { domain: parts, range: COLOURS.slice(0, parts.length) },
              },
              opacity: { condition: { test: "datum.tie", value: 0.35 }, value: 1 },
            },
          },
          {
            transform: [{ filter: "isValid(datum.low) && isValid(datum.high)" }],
            mark: { type: "rule", strokeWidth: 1.6, color: INK },
            encoding: { y: { field: "low", type: "quantitative" }, y2: { field: "high" } },
          },
          {
            transform: [{ filter: "isValid(datum.published)" }],
            mark: {
              type: "point",
              shape: "diamond",
              filled: true,
              fill: "white",
              stroke: INK,
              strokeWidth: 1.4,
              size: 70,
              opacity: 1,
            },
            encoding: { y: { field: "published", type: "quantitative" } },
          },
        ],
      },
      { data: ONCE, mark: { type: "rule", color: FAINT }, encoding: { y: { datum: 0 } } },
    ],
  };
}

/** A row of its own: else the line would be drawn once for every row of the data. */
const ONCE = { values: [{}] };

function inPercent(ratio: number | undefined): number | null {
  return ratio === undefined || !Number.isFinite(ratio) ? null : ratio * 100;
}
