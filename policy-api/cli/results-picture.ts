import type { Results } from "../api/contract/results.ts";
import { printable } from "./table.ts";
import { count } from "./quantities.ts";
import { allAndClasses, missingObjects, type NamedSlice, savedRange } from "./results-text.ts";

const WIDTH = 830;
const COLUMN = 108;
const PLOT = { left: 130, top: 84, height: 260 } as const;
const PLOT_RIGHT = WIDTH - 52;
const LINE = 18;
/** So many characters of 12 px fit beside each other. */
const CHARACTERS = 125;

/** How many intervals the axis has at most. */
const STEPS_MAX = 8;
/** The axis shows at least this share of time on either side of 0, so that noise does not look large. */
const REACH_MIN = 0.01;

/**
 * Light and dark, each with its own paper, as the page around may have the other one. Every figure says by its place and by
 * its shape what its colour says. No font is fetched.
 */
const STYLE = `text { font: 12px sans-serif; fill: #222222; text-anchor: middle; }
.title { font-size: 16px; font-weight: bold; }
.start { text-anchor: start; }
.end { text-anchor: end; }
.paper { fill: #ffffff; }
.grid { stroke: #e6e6e6; }
.zero { stroke: #222222; stroke-width: 1.5; }
.interval { stroke: #0072b2; stroke-width: 3; }
.claimed { fill: #0072b2; stroke: #0072b2; stroke-width: 2; }
.unclaimed { fill: #ffffff; stroke: #0072b2; stroke-width: 2; }
.unsaid { paint-order: stroke; stroke: #ffffff; stroke-width: 6px; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e6e6; }
  .paper, .unclaimed { fill: #161b22; }
  .grid { stroke: #363b42; }
  .zero { stroke: #e6e6e6; }
  .interval, .claimed, .unclaimed { stroke: #56b4e9; }
  .claimed { fill: #56b4e9; }
  .unsaid { stroke: #161b22; }
}`;

/** What is saved in all and by class of RTT, with its intervals and a zero line, as SVG. Pure. */
export function resultsPicture(results: Results): string {
  const slices = allAndClasses(results);
  const { low, high, step } = axisOf(slices);
  const y = (saved: number): number => rounded(PLOT.top + ((high - saved) / (high - low)) * PLOT.height);
  const rows = PLOT.top + PLOT.height + 22;
  const missing = missingObjects(results.objects);
  const said = wrapped(missing === undefined ? results.sentence : `${missing} ${results.sentence}`);
  const saidAt = rows + 4 * LINE + 16;
  const height = saidAt + said.length * LINE;
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step);
  const title = "What offering HTTP/3 saves, by RTT";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title said">
${[
  `<title id="title">${title}</title>`,
  `<desc id="said">${escaped(said.join(" "))}</desc>`,
  `<style>\n${STYLE}\n</style>`,
  `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
  text(20, 28, title, "title start"),
  text(
    20,
    50,
    `Version ${results.version}. Filled points: faster or slower. Hollow: nothing is claimed. The claim is that of all.`,
    "start",
  ),
  text(20, 68, "Bars: intervals of 95 %, which hold however often you look, each by itself.", "start"),
  `<text transform="translate(78 ${PLOT.top + PLOT.height / 2}) rotate(-90)">load time saved (%)</text>`,
  ...ticks.flatMap((tick) => [
    line("grid", [PLOT.left, y(tick)], [PLOT_RIGHT, y(tick)]),
    text(PLOT.left - 8, y(tick) + 4, String(rounded(tick * 100)), "end"),
  ]),
  line("zero", [PLOT.left, y(0)], [PLOT_RIGHT, y(0)]),
  text(PLOT_RIGHT + 4, y(0) - 6, "faster", "start"),
  text(PLOT_RIGHT + 4, y(0) + 14, "slower", "start"),
  ...["RTT", "clients offered", "clients not offered", "saved, %"].map((name, i) =>
    text(PLOT.left - 8, rows + i * LINE, name, "end"),
  ),
  ...slices.flatMap((named, i) => column(named, PLOT.left + (i + 0.5) * COLUMN, rows, y)),
  ...said.map((words, i) => text(20, saidAt + i * LINE, words, "start")),
].join("\n")}
</svg>
`;
}

/** A point with its interval, or that there is none yet, over the figures of the table. */
function column([name, slice]: NamedSlice, x: number, rows: number, y: (saved: number) => number): string[] {
  const { saved, claim } = slice.load;
  const clients = (arm: "offered" | "withheld"): string => {
    const took = slice[arm].load;
    return took === null ? "-" : count(took.clients);
  };
  const figures = [name, clients("offered"), clients("withheld"), savedRange(slice, "load") ?? "-"];
  const mark =
    saved === null
      ? ["nothing can", "be said yet"].map((words, i) => text(x, PLOT.top + 40 + i * LINE, words, "unsaid"))
      : [
          line("interval", [x, y(saved.low)], [x, y(saved.high)]),
          `<circle class="${claim.kind === "none" ? "unclaimed" : "claimed"}" cx="${x}" cy="${y(saved.value)}" r="5"/>`,
        ];
  return [...mark, ...figures.map((figure, i) => text(x, rows + i * LINE, figure))];
}

/** Ends and step of the axis, as shares of time: whole steps that hold 0 and every interval. */
function axisOf(slices: readonly NamedSlice[]): { low: number; high: number; step: number } {
  const ends = slices.flatMap(([, { load }]) => (load.saved === null ? [] : [load.saved.low, load.saved.high]));
  const [from, to] = [Math.min(-REACH_MIN, ...ends), Math.max(REACH_MIN, ...ends)];
  for (let unit = REACH_MIN / 2; ; unit *= 10)
    for (const step of [unit, 2 * unit, 4 * unit, 10 * unit]) {
      const [below, above] = [Math.floor(from / step), Math.ceil(to / step)];
      if (above - below <= STEPS_MAX) return { low: below * step, high: above * step, step };
    }
}

function text(x: number, y: number, words: string, name?: string): string {
  return `<text${name === undefined ? "" : ` class="${name}"`} x="${rounded(x)}" y="${rounded(y)}">${escaped(words)}</text>`;
}

type Point = readonly [x: number, y: number];

function line(name: string, [x1, y1]: Point, [x2, y2]: Point): string {
  return `<line class="${name}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

/** In lines of at most CHARACTERS, unless a word alone has more. */
function wrapped(sentence: string): string[] {
  const lines: string[] = [];
  for (const word of printable(sentence).split(" ")) {
    const longer = [...lines.slice(-1), word].join(" ");
    if (lines.length > 0 && longer.length <= CHARACTERS) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Text as XML. */
function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A tenth of a pixel is fine enough. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
