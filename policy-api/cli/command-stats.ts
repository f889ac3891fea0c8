import type { Count, Extent, Stats } from "../api/contract/deployment.ts";
import type { Command } from "./command.ts";
import { HOUR_MS } from "../api/counters/counted.ts";
import { agoText, bytes, count, counted, timeText } from "./quantities.ts";
import { inPercent } from "./results-text.ts";
import { table } from "./table.ts";

const HOURS = 24;

export const STATS: Command = {
  name: "stats",
  usage: "",
  summary: "Count what was decided and why, and what visitors did with it.",
  details: `Shows this hour, the last ${HOURS} hours and all since the beginning. What an isolate counted comes
in within 20 s. Then how much is kept of clients. \`results\` says what HTTP/3 saved.`,
  async run({ io, api, columns }) {
    const connected = await api();
    const [stats, store] = await Promise.all([connected.stats(HOURS), connected.extent()]);
    return {
      json: { ...stats, store },
      text: `${statsText(stats, io.nowMs(), columns)}\n\n${extentText(store, io.nowMs())}`,
    };
  },
};

/** A line of the table: it adds up a counter, or what a label of it has this value. */
type Line = readonly [name: string, counter: Count["counter"], label?: string, value?: string];

const LINES: readonly Line[] = [
  ["pages decided about", "decisions"],
  ["offered HTTP/3", "decisions", "answer", "h3"],
  ["nothing said", "decisions", "answer", "nothing"],
  ["clear: takes back any earlier offer", "decisions", "answer", "clear"],
  ["over HTTP/3 already", "decisions", "transport", "quic"],
  ["late: the look-up was too slow", "decisions", "late", "yes"],
  ["drawn: offered", "decisions", "arm", "offer"],
  ["drawn: not offered", "decisions", "arm", "withhold"],
  ["undecided: no policy at hand in time", "undecided"],
  ["look-ups that failed", "look_ups_failed"],
];

/** Those of which each value of a label is a line. */
const BY_VALUE: readonly (readonly [name: string, counter: Count["counter"], label: string])[] = [
  ["why", "decisions", "reason"],
  ["earlier offers", "offers", "fate"],
  ["look-ups, by who answered", "look_ups", "from"],
  ["the origin", "origin", "answer"],
  ["readings of the edge", "samples", "fate"],
  ["batches of them that were refused", "batches_refused", "cause"],
  ["reports of pages", "reports", "fate"],
  ["news that was dropped", "news_dropped", "cause"],
];

/** What was counted, as a table: this hour, the last hours, and in all. Lines that are 0 are left out, but for the first. */
function statsText({ since, objects, totals, hours }: Stats, nowMs: number, columns: number): string {
  const silent = objects.asked - objects.answered;
  const notes =
    silent === 0 ? [] : ["", `${counted(silent, "region")} of the store did not answer: what it counted is missing.`];
  if (objects.asked === 0) return "Nothing is counted: the worker has no binding COUNTERS (wrangler.toml has it).";
  if (since === null) return ["Nothing was counted yet: no page has passed the worker.", ...notes].join("\n");
  const present = hours.flatMap(({ at, counts }) => (nowMs - Date.parse(at) < HOUR_MS ? counts : []));
  const recent = hours.flatMap(({ counts }) => counts);
  const byValue = BY_VALUE.flatMap(([name, counter, label]): Line[] => {
    const values = new Set(totals.flatMap((one) => (one.counter === counter ? (one.labels[label] ?? []) : [])));
    const parts = [...values].map((value): Line => [value, counter, label, value]);
    return [[name, counter], ...parts.toSorted((a, b) => sumOf(totals, b) - sumOf(totals, a))];
  });
  const row = (line: Line) => {
    const [name, counter, label] = line;
    const [some, whole] = [sumOf(recent, line), sumOf(recent, [name, counter])];
    return [
      label === undefined ? name : `  ${name}`,
      count(sumOf(present, line)),
      count(some),
      label !== undefined && whole > 0 ? inPercent(some / whole) : undefined,
      count(sumOf(totals, line)),
    ];
  };
  return [
    `Since ${timeText(since)} (${agoText(since, nowMs)}):`,
    "",
    table(
      ["", "this hour", `${HOURS} hours`, "of these, %", "in all"],
      [...LINES, ...byValue].filter((line, i) => i === 0 || sumOf(totals, line) > 0).map(row),
      columns,
    ),
    ...notes,
  ].join("\n");
}

/** How much is kept of clients. */
function extentText({ objects, rows, oldest, bytes: size }: Extent, nowMs: number): string {
  const silent = objects.asked - objects.answered;
  const missing = silent === 0 ? "" : ` ${counted(silent, "object")} did not answer.`;
  if (oldest === null) return `Nothing is kept of clients.${missing}`;
  const where = `${counted(objects.holding, "object")} of ${objects.asked}`;
  return `Kept of clients and networks: ${counted(rows, "row")} in ${where}, ${bytes(size)}; the oldest was heard of ${agoText(oldest, nowMs)}.${missing}`;
}

function sumOf(counts: readonly Count[], [, counter, label, value]: Line): number {
  const its = counts.filter((one) => one.counter === counter && (label === undefined || one.labels[label] === value));
  return its.reduce((sum, one) => sum + one.count, 0);
}
