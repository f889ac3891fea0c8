import type { TopLevelSpec } from "vega-lite";
import { FAINT, figures, INK, INTERVAL, look, names, POINT } from "./theme.ts";

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

const COLOURS = ["#009e73", "#56b4e9", "#e69f00", "#cc79a7"];

/** Regret by network: bars with 95 % intervals, a hollow diamond for what was published. */
export function regretBars(rows: readonly RegretBar[], { title }: { readonly title: string }): TopLevelSpec {
  const parts = [...new Set(rows.map(({ part }) => part))];
  const networks = [...new Set(rows.map(({ network }) => network))];
  const values = rows.map(({ regret, low, high, published, ...of }) => ({
    ...of,
    percent: inPercent(regret),
    low: inPercent(low),
    high: inPercent(high),
    published: inPercent(published),
  }));
  const subtitle = [
    "Bars: measured, with 95 % interval.",
    ...(values.some(({ published }) => published !== null) ? ["Diamonds: published."] : []),
    ...(values.some(({ tie }) => tie) ? ["Pale: a tie, where neither choice is known to be wrong."] : []),
  ];
  const { color } = look(
    "part",
    parts.map((name, index) => ({ name, colour: COLOURS[index] ?? INK })),
    { title: "regret" },
  );
  return {
    title: { text: title, subtitle },
    width: { step: Math.max(12, Math.floor(560 / Math.max(1, networks.length * (parts.length + 1)))) },
    height: 340,
    data: { values },
    layer: [
      {
        encoding: {
          x: names("network", {
            sort: null,
            title: "network",
            scale: { domain: networks },
            axis: { labelAngle: networks.length > 4 ? -30 : 0, grid: false, labelLimit: 200 },
          }),
          xOffset: names("part", { scale: { domain: parts } }),
          y: figures("percent", { title: "regret (% of load time)" }),
        },
        layer: [
          {
            transform: [{ filter: "isValid(datum.percent)" }],
            mark: { type: "bar" },
            encoding: { color, opacity: { condition: { test: "datum.tie", value: 0.35 }, value: 1 } },
          },
          { ...INTERVAL, mark: { type: "rule", strokeWidth: 1.6, color: INK } },
          {
            transform: [{ filter: "isValid(datum.published)" }],
            mark: { ...POINT, shape: "diamond", fill: "white", strokeWidth: 1.4, size: 70 },
            encoding: { y: figures("published") },
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
