import type { TopLevelSpec } from "vega-lite";
import { FAINT, figures, type look, names, POINT, REFERENCE } from "./theme.ts";

/** A ratio with its interval, in a panel and a row, by their names. */
export type RatioRow = Readonly<Record<string, string | number>> &
  Readonly<Record<"estimate" | "low" | "high", number>>;

export interface RatioPanels {
  readonly title: { readonly text: string; readonly subtitle: readonly string[] };
  readonly values: readonly RatioRow[];
  /** The ratio, in words. */
  readonly ratio: string;
  /** Which field says the panel, and which the row, with all names in order. */
  readonly panel: { readonly field: string; readonly sort: readonly string[] };
  readonly row: { readonly field: string; readonly sort: readonly string[] };
  /** Of several ratios a row: which field tells them apart, and how they look. */
  readonly series?: ReturnType<typeof look>;
}

const ROW = { one: 22, several: 26 } as const;
/** Room for the longest name of a row, whose width is estimated too large without a canvas. */
const LABEL_PX = 300;
/** The frame shows a third to three times, and more where a ratio itself is beyond. */
const FRAME = 3;
const TICKS = [0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 5, 10] as const;

/** Ratios beside 1: panels side by side that share their rows. */
export function ratioPanels({ title, values, ratio, panel, row, series }: RatioPanels): TopLevelSpec {
  // Of a few visits intervals may reach far: how far says nothing, and to show it would hide all else.
  const most = Math.max(FRAME, ...values.flatMap(({ estimate }) => [1.1 * estimate, 1.1 / estimate]));
  const scale = { type: "log" as const, domain: [1 / most, most], clamp: true };
  const x = {
    title: ratio,
    scale,
    axis: { values: TICKS.filter((tick) => tick <= most && tick >= 1 / most) },
  };
  const height = (series === undefined ? ROW.one : ROW.several) * row.sort.length;
  const apart = series === undefined ? {} : { yOffset: names(series.color.field), color: series.color };
  const alike = series === undefined ? {} : { yOffset: { value: 0 }, color: { value: FAINT } };
  return {
    title: { ...title, subtitle: [...title.subtitle, "A line that reaches the frame goes on."] },
    data: { values: [...values] },
    facet: { column: { field: panel.field, type: "nominal", sort: [...panel.sort], title: null } },
    spec: {
      width: 260,
      height,
      encoding: {
        y: names(row.field, { title: null, sort: [...row.sort], axis: { labelLimit: LABEL_PX } }),
        ...apart,
      },
      layer: [
        {
          data: { values: [{ one: 1 }] },
          mark: REFERENCE,
          encoding: { x: figures("one", x), y: { value: 0 }, y2: { value: height }, ...alike },
        },
        { mark: { type: "rule" }, encoding: { x: figures("low", x), x2: { field: "high" } } },
        { mark: POINT, encoding: { x: figures("estimate", x), ...(series && { shape: series.shape }) } },
      ],
    },
  };
}
