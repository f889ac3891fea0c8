import type { TopLevelSpec } from "vega-lite";
import { ARM_STYLES, figures, panelTitle, REFERENCE } from "./theme.ts";

export interface WindowLine {
  readonly name: string;
  readonly points: readonly { readonly atMs: number; readonly windowBytes: number }[];
}

const COLUMNS = 2;
/** More are no finer than a panel's pixels. */
const POINTS = 300;

/** Congestion windows over time, a panel for each load with a time of its own; the windows' axis is the same in all. */
export function windowLines(lines: readonly WindowLine[], pathBytes: number): TopLevelSpec {
  const kB = lines.flatMap(({ points }) => points.map(({ windowBytes }) => windowBytes / 1_000));
  const domain = [Math.max(10, Math.min(...kB) / 1.2), Math.max(pathBytes / 1_000, ...kB) * 1.2];
  return {
    title: {
      text: "Congestion window over time",
      subtitle: [
        "The first load of each; of six connections the sum.",
        "Dashed: what the path holds in an RTT. Time axes differ.",
      ],
    },
    columns: COLUMNS,
    bounds: "flush",
    spacing: { row: 68, column: 66 },
    concat: lines.map(({ name, points }, index) => ({
      title: panelTitle(name),
      width: 270,
      height: 110,
      layer: [
        {
          data: { values: [{ kB: pathBytes / 1_000 }] },
          mark: REFERENCE,
          encoding: { y: figures("kB") },
        },
        {
          data: { values: thin(points).map(({ atMs, windowBytes }) => ({ s: atMs / 1_000, kB: windowBytes / 1_000 })) },
          mark: { type: "line", strokeWidth: 1.5, color: ARM_STYLES["fixed-h2"].colour },
          encoding: {
            x: figures("s", { title: "time (s)", axis: { tickCount: 5, grid: false } }),
            y: figures("kB", {
              title: index % COLUMNS === 0 ? "window (kB)" : null,
              scale: { type: "log", domain, nice: false },
              axis: { tickCount: 5, format: ",.4~r" },
            }),
          },
        },
      ],
    })),
    resolve: { scale: { x: "independent" } },
  };
}

function thin<T>(points: readonly T[]): T[] {
  const step = Math.ceil(points.length / POINTS);
  return points.filter((_, index) => index % step === 0);
}
