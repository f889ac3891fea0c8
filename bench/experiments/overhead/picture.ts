import type { TopLevelSpec } from "vega-lite";
import { FAINT, LINE_STYLES } from "../../analysis/charts/theme.ts";
import { size } from "../../analysis/tables/format.ts";
import type { FigureName, LoopbackSummary } from "../../harness/loopback/summary.ts";
import { type Loop, SIZES } from "../../model/request-plan.ts";

const PANELS: readonly { figure: FigureName; loop: Loop; title: string; reference: string }[] = [
  { figure: "requestsPerSecond", loop: "closed", title: "requests/s, closed loop", reference: "bare" },
  { figure: "latencyMedianMs", loop: "open", title: "median latency, open loop", reference: "bare" },
  { figure: "latencyP99Ms", loop: "open", title: "p99 latency, open loop", reference: "bare" },
  { figure: "frontCpuUs", loop: "open", title: "CPU of the edge, open loop", reference: "bare" },
  { figure: "workerdCpuUs", loop: "open", title: "CPU of workerd, open loop", reference: "pass-through" },
];

const COLUMNS = 3;

/**
 * Ratios of every arm, a panel for each figure; the line at 1 is the reference. Not spreadDots: its lines are networks
 * and its colours the arms of the experiments on loads, here lines are arms and colours sizes.
 */
export function overheadPicture({ rounds, results }: LoopbackSummary): TopLevelSpec {
  const sizes = [size(SIZES.small), size(SIZES.large)];
  const order = [...new Set(results.filter(({ subject }) => !subject.endsWith("/bare")).map(nameOf))];
  const bySize = { field: "size", type: "nominal", title: "response" } as const;
  const colours = LINE_STYLES.slice(0, 2).map(({ colour }) => colour);
  const color = { ...bySize, scale: { domain: sizes, range: colours } };
  const shape = { ...bySize, scale: { domain: sizes, range: ["circle", "diamond"] } };
  return {
    title: {
      text: "What a request costs, beside the edge alone",
      subtitle: [
        "Ratios within a round: below 1 is less, above 1 more; workerd's CPU beside a worker that only passes on.",
        `Marks: median of ${rounds} rounds; bars: 95 % interval.`,
      ],
    },
    columns: COLUMNS,
    align: "none",
    spacing: 20,
    concat: PANELS.map(({ figure, loop, title, reference }, panel) => {
      const ratio = {
        type: "quantitative" as const,
        title: `${title}, ratio`,
        scale: { type: "log" as const, nice: false, padding: 12 },
        axis: { tickCount: 4 },
      };
      const y = {
        field: "arm",
        type: "nominal" as const,
        title: null,
        scale: { domain: order },
        // All panels have the same lines: their names stand once a row.
        axis: panel % COLUMNS === 0 ? { labelLimit: 320, grid: false } : null,
      };
      const place = { y, yOffset: { field: "size", type: "nominal" as const, scale: { domain: sizes } } };
      const values = results.flatMap((result) => {
        const found = result.figures[figure]?.ratio;
        if (result.loop !== loop || result.subject.endsWith(`/${reference}`) || found === undefined) return [];
        const [low, high] = found.interval ?? [null, null];
        return [{ arm: nameOf(result), size: result.group, ratio: found.median, low, high }];
      });
      return {
        width: 190,
        height: { step: 22, for: "position" as const },
        data: { values },
        layer: [
          {
            mark: { type: "rule" as const, color: FAINT, strokeDash: [4, 3] },
            encoding: { x: { datum: 1, ...ratio } },
          },
          {
            transform: [{ filter: "isValid(datum.low)" }],
            mark: { type: "rule" as const, strokeWidth: 2 },
            encoding: { ...place, x: { field: "low", ...ratio }, x2: { field: "high" }, color },
          },
          {
            mark: { type: "point" as const, filled: true, size: 60, opacity: 1 },
            encoding: { ...place, x: { field: "ratio", ...ratio }, color, shape },
          },
        ],
      };
    }),
  };
}

/** Without what a table has room for. */
function nameOf({ title }: { readonly title: string }): string {
  return title
    .replace("this worker, ", "")
    .replaceAll("`", "")
    .replace(/[,:].*/, "");
}
