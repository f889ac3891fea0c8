import type { TopLevelSpec } from "vega-lite";
import type { Arm } from "../../model/arm.ts";
import { armStyles, look, POINT } from "./theme.ts";

export interface VariantTime {
  readonly name: string;
  readonly arm: Arm;
  readonly group: { readonly meanMs: { readonly estimate: number; readonly low: number; readonly high: number } };
}

/** Mean load times of named ways to load the same page, with 95 % intervals, the slowest first. */
export function variantTimes(variants: readonly VariantTime[]): TopLevelSpec {
  const { color, shape } = look("arm", armStyles(variants), { orient: "bottom" });
  const values = variants
    .map(({ name, arm, group: { meanMs } }) => ({
      name,
      arm,
      s: meanMs.estimate / 1_000,
      low: meanMs.low / 1_000,
      high: meanMs.high / 1_000,
    }))
    .toSorted((one, other) => other.s - one.s);
  return {
    title: { text: "Mean load time of each way", subtitle: "Bars: 95 % intervals." },
    width: 420,
    height: { step: 26 },
    data: { values },
    encoding: {
      y: {
        field: "name",
        type: "nominal",
        title: null,
        sort: values.map(({ name }) => name),
        axis: { labelLimit: 400, grid: true },
      },
      x: {
        field: "s",
        type: "quantitative",
        title: "mean load time (s), logarithmic",
        scale: { type: "log", nice: false, padding: 14 },
        axis: { tickCount: 8, format: "~r" },
      },
      color,
    },
    layer: [
      {
        mark: { type: "rule", strokeWidth: 2 },
        encoding: { x: { field: "low", type: "quantitative" }, x2: { field: "high" } },
      },
      { mark: POINT, encoding: { shape } },
    ],
  };
}
