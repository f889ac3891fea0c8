import type { Config } from "vega-lite";

/** What a load was made with; the names of bench/experiments. */
export type ArmName =
  | "quiche-cubic"
  | "quiche-bbr2"
  | "fixed-h1"
  | "fixed-h2"
  | "fixed-h3"
  | "early-h3"
  | "retry-h3"
  | "always-offer"
  | "adaptive"
  | "bare";

interface ArmStyle {
  readonly arm: ArmName;
  readonly colour: string;
  readonly shape: string;
}

/**
 * Okabe and Ito's colours (2008), told apart by colour-blind readers; shapes for print. The order of every legend. Their eight
 * are fewer than the arms: brown is beside them.
 */
const ARM_STYLES: readonly ArmStyle[] = [
  { arm: "bare", colour: "#999999", shape: "cross" },
  { arm: "fixed-h1", colour: "#cc79a7", shape: "triangle-down" },
  { arm: "fixed-h2", colour: "#0072b2", shape: "circle" },
  { arm: "fixed-h3", colour: "#d55e00", shape: "square" },
  { arm: "early-h3", colour: "#f0e442", shape: "stroke" },
  { arm: "retry-h3", colour: "#a6761d", shape: "stroke" },
  { arm: "quiche-cubic", colour: "#56b4e9", shape: "triangle-right" },
  { arm: "quiche-bbr2", colour: "#000000", shape: "triangle-left" },
  { arm: "always-offer", colour: "#e69f00", shape: "triangle-up" },
  { arm: "adaptive", colour: "#009e73", shape: "diamond" },
];

/** The arms that occur in these rows, in the order of the legend. */
export function armsIn(rows: readonly { readonly arm: ArmName }[]): ArmName[] {
  const present = new Set(rows.map(({ arm }) => arm));
  return ARM_STYLES.map(({ arm }) => arm).filter((arm) => present.has(arm));
}

/** Colour and shape scales that keep an arm's look in every picture, whichever arms occur in it. */
export function armScales(arms: readonly ArmName[]): {
  colour: { domain: string[]; range: string[] };
  shape: { domain: string[]; range: string[] };
} {
  const styles = ARM_STYLES.filter(({ arm }) => arms.includes(arm));
  const domain = styles.map(({ arm }) => arm);
  return {
    colour: { domain, range: styles.map(({ colour }) => colour) },
    shape: { domain, range: styles.map(({ shape }) => shape) },
  };
}

/** Each with a dash of its own: for lines that are ordered, such as rates. */
export const LINE_STYLES: readonly { readonly colour: string; readonly dash: number[] }[] = [
  { colour: "#0072b2", dash: [] },
  { colour: "#d55e00", dash: [7, 3] },
  { colour: "#009e73", dash: [2, 2] },
  { colour: "#cc79a7", dash: [9, 3, 2, 3] },
  { colour: "#000000", dash: [12, 4] },
  { colour: "#e69f00", dash: [4, 2] },
  { colour: "#56b4e9", dash: [1, 3] },
];

export const INK = "#222222";
export const FAINT = "#777777";

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
