import type { TopLevelSpec } from "vega-lite";
import { armScales, armsIn, INK, type ArmName } from "./theme.ts";

export interface ArmTime {
  /** The title of its panel, such as "2.5 %, 12.5 ms". Panels keep the order of the rows. */
  readonly network: string;
  readonly arm: ArmName;
  /** Measured mean (or median) and its 95 % interval; undefined where this arm was only published. */
  readonly loadMs?: number | undefined;
  readonly lowMs?: number | undefined;
  readonly highMs?: number | undefined;
  /** The published figure of the same arm. */
  readonly publishedMs?: number | undefined;
}

export interface ArmBarsText {
  readonly title: string;
  readonly subtitle?: string;
  /** "mean load time (ms)" by default. */
  readonly yTitle?: string;
}

const SHORT: Readonly<Record<ArmName, string>> = {
  bare: "bare",
  "fixed-h1": "h1",
  "fixed-h2": "h2",
  "early-h3": "h3 0-RTT",
  "retry-h3": "h3 Retry",
  "fixed-h3": "h3",
  "always-offer": "offer",
  adaptive: "adaptive",
  "quiche-cubic": "quiche cubic",
  "quiche-bbr2": "quiche bbr2",
};

/**
 * Load time by network and arm: a panel for each network with a log axis of its own, filled marks with 95 % intervals for
 * what was measured, hollow ones beside for what was published. Marks and no bars: a log axis has no zero to stand on.
 */
export function armBars(rows: readonly ArmTime[], { title, subtitle, yTitle }: ArmBarsText): TopLevelSpec {
  const arms = armsIn(rows);
  const scales = armScales(arms);
  const networks = [...new Set(rows.map(({ network }) => network))];
  const columns = Math.min(3, networks.length);
  const kinds = rows.some(isPublished) ? ["measured", "published"] : ["measured"];
  const notes = [
    ...(subtitle === undefined ? [] : [subtitle]),
    `Filled: measured, with 95 % interval.${rows.some(isPublished) ? " Hollow: published." : ""}`,
    "Each panel has its own axis.",
  ];
  const colour = { field: "arm", type: "nominal", title: "arm", scale: scales.colour, legend: BELOW } as const;
  const shape = { field: "arm", type: "nominal", title: "arm", scale: scales.shape, legend: BELOW } as const;
  const values = (network: string): object[] =>
    rows.flatMap((row) =>
      row.network !== network
        ? []
        : [
            ...(isMeasured(row)
              ? [
                  {
                    arm: row.arm,
                    name: SHORT[row.arm],
                    kind: "measured",
                    ms: row.loadMs,
                    low: row.lowMs,
                    high: row.highMs,
                  },
                ]
              : []),
            ...(isPublished(row)
              ? [{ arm: row.arm, name: SHORT[row.arm], kind: "published", ms: row.publishedMs }]
              : []),
          ],
    );
  return {
    title: { text: title, subtitle: notes },
    columns,
    spacing: { row: 22, column: 22 },
    resolve: { scale: { y: "independent", x: "independent" }, legend: { color: "shared", shape: "shared" } },
    concat: networks.map((network, index) => ({
      title: { text: network, fontSize: 13, offset: 6 },
      width: columns === 1 ? 480 : 186,
      height: 170,
      data: { values: values(network) },
      encoding: {
        x: {
          field: "name",
          type: "nominal",
          title: null,
          scale: { domain: arms.map((arm) => SHORT[arm]) },
          axis: { labelAngle: 0, grid: false, labelFontSize: 11 },
        },
        xOffset: { field: "kind", type: "nominal", scale: { domain: kinds, paddingInner: 0.6 } },
        y: {
          field: "ms",
          type: "quantitative",
          title: index % columns === 0 ? (yTitle ?? "mean load time (ms)") : null,
          scale: { type: "log", nice: false, padding: 14 },
          axis: {
            tickCount: 5,
            ...(isNarrow(rows, network) ? { labelExpr: `format(datum.value, '${PLAIN}')` } : { format: PLAIN }),
          },
        },
        color: colour,
      },
      layer: [
        {
          transform: [{ filter: "isValid(datum.low) && isValid(datum.high)" }],
          mark: { type: "rule", strokeWidth: 2 },
          encoding: { y: { field: "low", type: "quantitative" }, y2: { field: "high" } },
        },
        {
          transform: [{ filter: "datum.kind === 'measured'" }],
          mark: { type: "point", filled: true, size: 80, opacity: 1, stroke: INK, strokeWidth: 0.5 },
          encoding: { shape },
        },
        {
          transform: [{ filter: "datum.kind === 'published'" }],
          mark: { type: "point", filled: false, size: 80, opacity: 1, strokeWidth: 1.6 },
          encoding: { shape },
        },
      ],
    })),
  };
}

/** Beside the panels it would take a fourth column's width. */
const BELOW = { orient: "bottom" } as const;

/** 1,234 and not 1.2k: some of these axes run from 440 to 540. */
const PLAIN = ",.4~r";

/** Of a logarithmic axis Vega leaves out the labels above 5 of each decade, and so all of one that runs from 620 to 790. */
function isNarrow(rows: readonly ArmTime[], network: string): boolean {
  const ends = rows
    .filter((row) => row.network === network)
    .flatMap(({ loadMs, lowMs, highMs, publishedMs }) => [loadMs, lowMs, highMs, publishedMs])
    .flatMap((ms) => (ms !== undefined && Number.isFinite(ms) ? [ms] : []));
  return Math.max(...ends) < 2 * Math.min(...ends);
}

function isMeasured(row: ArmTime): boolean {
  return row.loadMs !== undefined && Number.isFinite(row.loadMs);
}

function isPublished(row: ArmTime): boolean {
  return row.publishedMs !== undefined && Number.isFinite(row.publishedMs);
}
