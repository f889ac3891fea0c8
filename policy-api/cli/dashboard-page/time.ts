import UPlot from "uplot";
import type { Stats } from "../../api/contract/deployment.ts";
import { count, percent } from "../quantities.ts";
import { element, tableOf } from "./elements.ts";

/** Okabe and Ito's colours (2008), which colour-blind people tell apart, and greys after them. */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#666666"];
const HEIGHT = 260;
const HOUR_S = 3_600;
/** Of the axis: the day stands where it begins. */
const HOUR = UPlot.fmtDate("{HH}:{mm}");
const DAY = UPlot.fmtDate("{YYYY}-{MM}-{DD}");

/** Decisions by the hour, by the values of one label. Those that are most come first. */
interface Series {
  /** Seconds since the epoch, every hour. */
  readonly atS: readonly number[];
  readonly values: readonly { readonly name: string; readonly counts: readonly number[]; readonly sum: number }[];
}

/** @param untilMs The page's time: hours without counts are there, too, up to this one */
export function seriesOf({ hours }: Pick<Stats, "hours">, label: string, asked: number, untilMs: number): Series {
  const lastS = Math.floor(untilMs / 1_000 / HOUR_S) * HOUR_S;
  const atS = Array.from({ length: asked }, (_, i) => lastS - (asked - 1 - i) * HOUR_S);
  const byName = new Map<string, number[]>();
  for (const { at, counts } of hours) {
    const place = atS.indexOf(Date.parse(at) / 1_000);
    for (const { counter, labels, count: n } of counts) {
      const name = labels[label];
      if (counter !== "decisions" || name === undefined || place < 0) continue;
      const own = byName.get(name) ?? atS.map(() => 0);
      own[place] = (own[place] ?? 0) + n;
      byName.set(name, own);
    }
  }
  const values = [...byName].map(([name, counts]) => ({ name, counts, sum: counts.reduce((all, n) => all + n, 0) }));
  return { atS, values: values.toSorted((a, b) => b.sum - a.sum) };
}

let drawn: UPlot | undefined;

/** Draws the counts one upon another. */
export function drawSeries(into: HTMLElement, { atS, values }: Series): void {
  drawn?.destroy();
  drawn = undefined;
  into.replaceChildren();
  if (values.length === 0) return;
  // Each is drawn from 0 to its top, the highest first, so that each shows its own part.
  const tops: number[][] = [];
  for (const { counts } of values) {
    const below = tops.at(-1);
    tops.push(counts.map((n, i) => n + (below?.[i] ?? 0)));
  }
  const colourOf = (i: number): string => COLOURS[i % COLOURS.length] ?? "#999999";
  const steps = UPlot.paths.stepped?.({ align: 1 });
  const style = getComputedStyle(document.documentElement);
  const axis = { stroke: style.getPropertyValue("color"), grid: { stroke: "rgba(128, 128, 128, 0.25)" } };
  drawn = new UPlot(
    {
      width: into.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, most) => [0, Math.max(1, most)] } },
      tzDate: utc,
      axes: [
        { ...axis, values: (_, splits) => timesAt(splits) },
        { ...axis, size: 60, label: "pages an hour", labelSize: 20 },
      ],
      series: [
        {},
        ...values
          .map(({ name }, i) => ({
            label: name,
            stroke: colourOf(i),
            fill: colourOf(i),
            ...(steps === undefined ? {} : { paths: steps }),
            points: { show: false },
          }))
          .toReversed(),
      ],
    },
    // A step ends with its hour, the last one too.
    [[...atS, (atS.at(-1) ?? 0) + HOUR_S], ...tops.toReversed().map((top) => [...top, top.at(-1) ?? 0])],
    into,
  );
  into.setAttribute("role", "img");
  into.setAttribute(
    "aria-label",
    `Decisions by the hour: ${values.map(({ name, sum }) => `${name} ${count(sum)}`).join(", ")}`,
  );
}

function utc(atS: number): Date {
  return UPlot.tzDate(new Date(atS * 1_000), "Etc/UTC");
}

/** The time of each tick, and below it the day of the first tick of a day. */
function timesAt(splits: readonly number[]): string[] {
  const days = splits.map((atS) => DAY(utc(atS)));
  return splits.map((atS, i) => (days[i] === days[i - 1] ? HOUR(utc(atS)) : `${HOUR(utc(atS))}\n${days[i]}`));
}

/** The same as figures, with the colour of each. */
export function seriesTable({ values }: Series, label: string): Node {
  const all = values.reduce((sum, value) => sum + value.sum, 0);
  if (all === 0) return element("p", {}, "No page was decided about in this time.");
  const table = tableOf(
    `Pages in all of this time, by ${label}`,
    [label, "pages", "share"],
    values.map(({ name, sum }) => [name, count(sum), percent(sum / all)]),
  );
  for (const [i, head] of [...table.querySelectorAll("tbody th")].entries()) {
    const key = element("span", { class: "key", "aria-hidden": "true" });
    key.style.background = COLOURS[i % COLOURS.length] ?? "#999999";
    head.prepend(key);
  }
  return table;
}
