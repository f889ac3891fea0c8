import type { Config } from "vega-lite";
import type { Arm } from "../../model/arm.ts";

/** How a series looks, under its name in the legend. */
export interface Style {
  readonly name: string;
  readonly colour: string;
  readonly shape?: string;
}

/**
 * Okabe and Ito's colours (2008), told apart by colour-blind readers; shapes for print. The order of every legend. Their eight
 * are fewer than the arms: brown is beside them.
 */
export const ARM_STYLES: Readonly<Record<Arm, Style & { readonly short: string }>> = {
  bare: { name: "bare", short: "bare", colour: "#999999", shape: "cross" },
  "bare-h3": { name: "bare-h3", short: "bare h3", colour: "#666666", shape: "cross" },
  "fixed-h1": { name: "fixed-h1", short: "h1", colour: "#cc79a7", shape: "triangle-down" },
  "fixed-h2": { name: "fixed-h2", short: "h2", colour: "#0072b2", shape: "circle" },
  "fixed-h3": { name: "fixed-h3", short: "h3", colour: "#d55e00", shape: "square" },
  "files-h2": { name: "files-h2", short: "files", colour: "#56b4e9", shape: "triangle-down" },
  "early-h3": { name: "early-h3", short: "h3 0-RTT", colour: "#f0e442", shape: "stroke" },
  "retry-h3": { name: "retry-h3", short: "h3 Retry", colour: "#a6761d", shape: "stroke" },
  "quiche-cubic": { name: "quiche-cubic", short: "quiche cubic", colour: "#56b4e9", shape: "triangle-right" },
  "quiche-bbr2": { name: "quiche-bbr2", short: "quiche bbr2", colour: "#000000", shape: "triangle-left" },
  "always-offer": { name: "always-offer", short: "offer", colour: "#e69f00", shape: "triangle-up" },
  "own-start": { name: "quic-go's slow start", short: "own start", colour: "#cc79a7", shape: "square" },
  unrehearsed: { name: "unrehearsed", short: "unrehearsed", colour: "#cc79a7", shape: "square" },
  published: { name: "published", short: "published", colour: "#f0e442", shape: "circle" },
  adaptive: { name: "adaptive", short: "adaptive", colour: "#009e73", shape: "diamond" },
};

/** The arms that occur in these rows: each has one look in every picture. */
export function armStyles(rows: readonly { readonly arm: Arm }[]) {
  return Object.values(ARM_STYLES).filter(({ name }) => rows.some(({ arm }) => arm === name));
}

/** The channels that tell series apart by a field. A picture takes those that its marks have; they share a legend. */
export function look(field: string, styles: readonly Style[], legend: object = {}) {
  const channel = <T>(of: (style: Style) => T) =>
    ({
      field,
      type: "nominal",
      legend,
      scale: { domain: styles.map(({ name }) => name), range: styles.map(of) },
    }) as const;
  return {
    color: channel(({ colour }) => colour),
    shape: channel(({ shape = "circle" }) => shape),
  };
}

export const INK = "#222222";
export const FAINT = "#777777";

/** A channel whose field holds figures, with what else is said of it. */
export function figures<const More extends object = object>(field: string, more?: More) {
  return { field, type: "quantitative" as const, ...(more as More) };
}

/** A channel whose field holds names. */
export function names<const More extends object = object>(field: string, more?: More) {
  return { field, type: "nominal" as const, ...(more as More) };
}

/** A line to hold others against. */
export const REFERENCE = { type: "rule" as const, color: FAINT, strokeDash: [4, 3] };

/** A point that was measured. */
export const POINT = { type: "point", filled: true, size: 90, opacity: 1, stroke: INK, strokeWidth: 0.5 } as const;

/** The interval from `low` to `high`, where there is one. */
export const INTERVAL = {
  transform: [{ filter: "isValid(datum.low) && isValid(datum.high)" }],
  mark: { type: "rule" as const, strokeWidth: 2 },
  encoding: { y: figures("low"), y2: { field: "high" } },
};

/** Intervals, filled points for what was measured, and hollow ones for what was published. @param published Vega's test of a row */
export function measuredBeside(published: string, shape: ReturnType<typeof look>["shape"]) {
  const points = (filter: string, mark: typeof POINT | typeof HOLLOW) => ({
    transform: [{ filter }],
    mark,
    encoding: { shape },
  });
  return [INTERVAL, points(`!(${published})`, POINT), points(published, HOLLOW)];
}

const HOLLOW = { type: "point", filled: false, size: 90, opacity: 1, strokeWidth: 1.8 } as const;

/** Above one of several panels. */
export function panelTitle(text: string) {
  return { text, fontSize: 13, offset: 6 };
}

/** sans-serif alone: a picture looks alike wherever it is opened, with no font to fetch. */
const FONT = "sans-serif";

export const THEME: Config = {
  background: "white",
  font: FONT,
  // A label on each mark for screen readers triples the file and says no more than the table beside the picture.
  aria: false,
  padding: 10,
  view: { stroke: "#cccccc" },
  axis: {
    labelFontSize: 12,
    titleFontSize: 13,
    titleFontWeight: "normal",
    labelColor: INK,
    titleColor: INK,
    gridColor: "#e6e6e6",
    domainColor: FAINT,
    tickColor: FAINT,
  },
  legend: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 300, symbolSize: 90 },
  title: {
    fontSize: 16,
    subtitleFontSize: 12,
    subtitleColor: "#555555",
    anchor: "start",
    frame: "group",
    offset: 12,
    subtitlePadding: 5,
  },
};
