import type { Count, Extent, Stats } from "../api/contract/stats.ts";
import { HOUR_MS } from "../api/counters/counted.ts";
import { bytes, count, counted } from "./quantities.ts";
import { inPercent } from "./slices.ts";
import { table } from "./table.ts";
import { agoText, timeText } from "./time-text.ts";

/** One line of the table: its name, which counts it adds up, and what its share is of. */
interface Line {
  readonly name: string;
  readonly counter: Count["counter"];
  readonly labels: Readonly<Record<string, string>>;
  /** False: a line that stands for all. */
  readonly isPart: boolean;
}

const all = (name: string, counter: Count["counter"]): Line => ({ name, counter, labels: {}, isPart: false });
const part = (name: string, counter: Count["counter"], labels: Line["labels"]): Line => ({
  name: `  ${name}`,
  counter,
  labels,
  isPart: true,
});

const ANSWERS: readonly Line[] = [
  all("pages decided about", "decisions"),
  part("offered HTTP/3", "decisions", { answer: "h3" }),
  part("nothing said", "decisions", { answer: "nothing" }),
  part("an offer taken back", "decisions", { answer: "clear" }),
  part("over HTTP/3 already", "decisions", { transport: "quic" }),
  part("late: the look-up was too slow", "decisions", { late: "yes" }),
  part("drawn: offered", "decisions", { arm: "offer" }),
  part("drawn: not offered", "decisions", { arm: "withhold" }),
];

/** Lines that are there where they are not 0. */
const UNUSUAL: readonly Line[] = [
  all("undecided: no policy at hand in time", "undecided"),
  all("look-ups that failed", "look_ups_failed"),
];

/** Those of which each value is a line, and how they are called. */
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

/** What was counted, as a table: this hour, the hours that were asked for, and in all. */
export function statsText(
  { since, objects, totals, hours }: Stats,
  asked: number,
  nowMs: number,
  columns: number,
): string {
  const silent = objects.asked - objects.answered;
  const notes =
    silent === 0 ? [] : ["", `${counted(silent, "region")} of the store did not answer: what it counted is missing.`];
  if (objects.asked === 0) return "Nothing is counted: the worker has no binding COUNTERS (wrangler.toml has it).";
  if (since === null) return ["Nothing was counted yet: no page has passed the worker.", ...notes].join("\n");
  const last = hours.at(-1);
  const isThisHour = last !== undefined && nowMs - Date.parse(last.at) < HOUR_MS;
  const present = isThisHour ? last.counts : [];
  const recent = hours.flatMap(({ counts }) => counts);
  const row = (line: Line) => {
    const whole = sumOf(recent, { ...line, labels: {} });
    const some = sumOf(recent, line);
    return [
      line.name,
      count(sumOf(present, line)),
      count(some),
      line.isPart && whole > 0 ? inPercent(some / whole) : undefined,
      count(sumOf(totals, line)),
    ];
  };
  const lines = [
    ...ANSWERS.filter((line) => !line.isPart || sumOf(totals, line) > 0),
    ...UNUSUAL.filter((line) => sumOf(totals, line) > 0),
    ...BY_VALUE.flatMap(([name, counter, label]) => {
      const values = [...new Set(totals.flatMap((one) => (one.counter === counter ? (one.labels[label] ?? []) : [])))];
      const parts = values.map((value) => part(value, counter, { [label]: value }));
      return values.length === 0 ? [] : [all(name, counter), ...mostFirst(parts, totals)];
    }),
  ];
  return [
    `Since ${timeText(since)} (${agoText(since, nowMs)}):`,
    "",
    table(
      ["", "this hour", asked === 1 ? "the same" : `${asked} hours`, "of these, %", "in all"],
      lines.map(row),
      columns,
    ),
    ...notes,
  ].join("\n");
}

/** How much is kept of clients. */
export function extentText({ objects, rows, oldest, bytes: size }: Extent, nowMs: number): string {
  const silent = objects.asked - objects.answered;
  const missing = silent === 0 ? "" : ` ${counted(silent, "object")} did not answer.`;
  if (oldest === null) return `Nothing is kept of clients.${missing}`;
  const where = `${counted(objects.holding, "object")} of ${objects.asked}`;
  return `Kept of clients and networks: ${counted(rows, "row")} in ${where}, ${bytes(size)}; the oldest was heard of ${agoText(oldest, nowMs)}.${missing}`;
}

function mostFirst(lines: readonly Line[], counts: readonly Count[]): Line[] {
  return lines.toSorted((a, b) => sumOf(counts, b) - sumOf(counts, a));
}

function sumOf(counts: readonly Count[], { counter, labels }: Pick<Line, "counter" | "labels">): number {
  const wanted = Object.entries(labels);
  return counts.reduce(
    (sum, one) =>
      one.counter === counter && wanted.every(([label, value]) => one.labels[label] === value) ? sum + one.count : sum,
    0,
  );
}
