import type { TopLevelSpec } from "vega-lite";
import { size } from "../../analysis/tables/format.ts";
import { FAINT, LINE_STYLES } from "../../analysis/charts/theme.ts";
import { OVERHEAD_SETUPS, type OverheadArm } from "../../lab/loopback-arms.ts";
import { type FigureName, FIGURES, type OverheadSummary } from "./summary.ts";

const PANELS: readonly { name: FigureName; loop: "closed" | "open"; title: string }[] = [
  { name: "requestsPerSecond", loop: "closed", title: "requests/s, closed loop" },
  { name: "latencyMedianMs", loop: "open", title: "median latency, open loop" },
  { name: "latencyP99Ms", loop: "open", title: "p99 latency, open loop" },
  { name: "frontCpuUs", loop: "open", title: "CPU of the edge, open loop" },
  { name: "workerdCpuUs", loop: "open", title: "CPU of workerd, open loop" },
];

const COLUMNS = 3;

/**
 * Ratios of every arm, a panel for each figure; the line at 1 is the reference. Not spreadDots: its lines are networks
 * and its colours the arms of the experiments on loads, here lines are arms and colours sizes.
 */
export function overheadPicture(summary: OverheadSummary): TopLevelSpec {
  const sizes = [size(summary.sizesBytes.small), size(summary.sizesBytes.large)];
  const order = summary.arms.filter((arm) => arm !== "bare").map((arm) => titleOf(arm));
  const color = {
    field: "size",
    type: "nominal",
    title: "response",
    scale: { domain: sizes, range: LINE_STYLES.slice(0, 2).map(({ colour }) => colour) },
  } as const;
  const shape = {
    field: "size",
    type: "nominal",
    title: "response",
    scale: { domain: sizes, range: ["circle", "diamond"] },
  } as const;
  const place = (panel: number) =>
    ({
      y: {
        field: "arm",
        type: "nominal",
        title: null,
        scale: { domain: order },
        // All panels have the same lines: their names stand once a row.
        axis: panel % COLUMNS === 0 ? { labelLimit: 320, grid: false } : null,
      },
      yOffset: { field: "size", type: "nominal", scale: { domain: sizes } },
    }) as const;
  const axis = (title: string) =>
    ({
      type: "quantitative",
      title: `${title}, ratio`,
      scale: { type: "log", nice: false, padding: 12 },
      axis: { tickCount: 4 },
    }) as const;
  return {
    title: {
      text: "What a request costs, beside the edge alone",
      subtitle: [
        "Ratios within a round: below 1 is less, above 1 more; workerd's CPU beside a worker that only passes on.",
        `Marks: median of ${summary.rounds} rounds; bars: 95 % interval.`,
      ],
    },
    columns: COLUMNS,
    align: "none",
    spacing: 20,
    concat: PANELS.map(({ name, loop, title }, panel) => ({
      width: 190,
      height: { step: 22, for: "position" as const },
      data: { values: valuesOf(summary, name, loop) },
      layer: [
        {
          mark: { type: "rule" as const, color: FAINT, strokeDash: [4, 3] },
          encoding: { x: { datum: 1, ...axis(title) } },
        },
        {
          transform: [{ filter: "isValid(datum.low)" }],
          mark: { type: "rule" as const, strokeWidth: 2 },
          encoding: { ...place(panel), x: { field: "low", ...axis(title) }, x2: { field: "high" }, color },
        },
        {
          mark: { type: "point" as const, filled: true, size: 60, opacity: 1 },
          encoding: { ...place(panel), x: { field: "ratio", ...axis(title) }, color, shape },
        },
      ],
    })),
  };
}

function valuesOf(
  summary: OverheadSummary,
  name: FigureName,
  loop: "closed" | "open",
): { arm: string; size: string; ratio: number; low: number | null; high: number | null }[] {
  return summary.results.flatMap((result) => {
    const figure = result.figures[name];
    if (result.loop !== loop || figure === undefined || result.arm === FIGURES[name]) return [];
    const { median, interval } = figure.ratio;
    if (!Number.isFinite(median)) return [];
    const [low, high] = interval ?? [null, null];
    return [{ arm: titleOf(result.arm), size: size(summary.sizesBytes[result.size]), ratio: median, low, high }];
  });
}

/** Without what a table has room for. */
function titleOf(arm: OverheadArm): string {
  return OVERHEAD_SETUPS[arm].title
    .replace("this worker, ", "")
    .replaceAll("`", "")
    .replace(/[,:].*/, "");
}
