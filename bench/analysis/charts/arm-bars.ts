import type { TopLevelSpec } from "vega-lite";
import type { Arm } from "../../model/arm.ts";
import { ARM_STYLES, armStyles, figures, look, measuredBeside, names, panelTitle } from "./theme.ts";

export interface ArmTime {
  /** The title of its panel, such as "2.5 %, 12.5 ms". Panels keep the order of the rows. */
  readonly network: string;
  readonly arm: Arm;
  /** Measured mean (or median), and its 95 % interval where there is one. */
  readonly loadMs: number;
  readonly lowMs?: number;
  readonly highMs?: number;
  /** The published figure of the same arm. */
  readonly publishedMs?: number | undefined;
}

/**
 * Load time by network and arm: a panel for each network with a log axis of its own, filled marks with 95 % intervals for
 * what was measured, hollow ones beside for what was published. Marks and no bars: a log axis has no zero to stand on.
 */
export function armBars(
  rows: readonly ArmTime[],
  { title, subtitle }: { readonly title: string; readonly subtitle?: string },
): TopLevelSpec {
  const styles = armStyles(rows);
  // Beside the panels a legend would take a fourth column's width.
  const { color, shape } = look("arm", styles, { orient: "bottom" });
  const panels = [...Map.groupBy(rows, ({ network }) => network)];
  const columns = Math.min(3, panels.length);
  const hasPublished = rows.some(({ publishedMs }) => publishedMs !== undefined);
  return {
    title: {
      text: title,
      subtitle: [
        ...(subtitle === undefined ? [] : [subtitle]),
        `Filled: measured, with 95 % interval.${hasPublished ? " Hollow: published." : ""}`,
        "Each panel has its own axis.",
      ],
    },
    columns,
    spacing: { row: 22, column: 22 },
    resolve: { scale: { y: "independent", x: "independent" }, legend: { color: "shared", shape: "shared" } },
    concat: panels.map(([network, own], index) => ({
      title: panelTitle(network),
      width: columns === 1 ? 480 : 186,
      height: 170,
      data: { values: own.flatMap(marksOf) },
      encoding: {
        x: names("name", {
          title: null,
          scale: { domain: styles.map(({ short }) => short) },
          axis: { labelAngle: 0, grid: false, labelFontSize: styles.length > 4 ? 10 : 11 },
        }),
        xOffset: names("kind", {
          scale: { domain: hasPublished ? ["measured", "published"] : ["measured"], paddingInner: 0.6 },
        }),
        y: figures("ms", {
          title: index % columns === 0 ? "mean load time (ms)" : null,
          scale: { type: "log", nice: false, padding: 14 },
          axis: { tickCount: 5, ...formatOf(own) },
        }),
        color,
      },
      layer: measuredBeside("datum.kind === 'published'", shape),
    })),
  };
}

function marksOf({ arm, loadMs, lowMs, highMs, publishedMs }: ArmTime): object[] {
  const of = { arm, name: ARM_STYLES[arm].short };
  const measured = { ...of, kind: "measured", ms: loadMs, low: lowMs, high: highMs };
  return publishedMs === undefined ? [measured] : [measured, { ...of, kind: "published", ms: publishedMs }];
}

/** 1,234 and not 1.2k: some of these axes run from 440 to 540. */
const PLAIN = ",.4~r";

/** Of a logarithmic axis Vega leaves out the labels above 5 of each decade, and so all of one that runs from 620 to 790. */
function formatOf(rows: readonly ArmTime[]) {
  const ends = rows.flatMap(({ loadMs, lowMs = loadMs, highMs = loadMs, publishedMs = loadMs }) => [
    lowMs,
    highMs,
    publishedMs,
  ]);
  const isNarrow = Math.max(...ends) < 2 * Math.min(...ends);
  return isNarrow ? { labelExpr: `format(datum.value, '${PLAIN}')` } : { format: PLAIN };
}
