import { setTimeout as pause } from "node:timers/promises";
import type { Count, Extent, Stats } from "../api/contract/deployment.ts";
import type { Api } from "./api.ts";
import type { Command } from "./command.ts";
import { Failure, failureText, misused } from "./failure.ts";
import { HOUR_MS } from "../api/counters/counted.ts";
import { agoText, bytes, count, counted, timeText } from "./quantities.ts";
import { inPercent } from "./results-text.ts";
import { table } from "./table.ts";

const HOURS = 24;
/** How often watch asks, seconds: isolates print what they counted every 20 s. */
const EVERY_S = 10;
/** Clears the screen, and goes to its corner (ECMA-48, 8.3.39 and 8.3.21). */
const CLEAR = "\u001B[2J\u001B[H";

export const STATS: Command = {
  name: "stats",
  usage: "[--hours N]",
  summary: "Count what was decided and why, and what visitors did with it.",
  details: `Shows this hour, the last N hours (${HOURS}) and all since the beginning. What an isolate counted comes
in within 20 s. Then how much is kept of clients. \`results\` says what HTTP/3 saved.`,
  options: ["hours"],
  async run({ options: { hours = HOURS }, io, api, columns }) {
    const connected = await api();
    const [stats, store] = await Promise.all([connected.stats(hours), connected.extent()]);
    return {
      json: { ...stats, store },
      text: `${statsText(stats, hours, io.nowMs(), columns)}\n\n${extentText(store, io.nowMs())}`,
    };
  },
};

export const WATCH: Command = {
  name: "watch",
  usage: "[--hours N] [--every SECONDS]",
  summary: "The same, shown anew all the time, until you press Ctrl-C.",
  details: `Asks every ${EVERY_S} seconds, or as often as --every says.`,
  options: ["hours", "every"],
  async run(call) {
    const { hours = HOURS, every = EVERY_S, json } = call.options;
    const { io, api, print } = call;
    if (json === true) throw misused("`watch` has no --json: it does not end. `stats --json` shows the same once.");
    const connected = await api();
    // Who cannot be asked at all is told so, and asks no more.
    let stats = await connected.stats(hours);
    for (let fault = ""; ;) {
      const at = new Date(io.nowMs()).toISOString().slice(11, 19);
      const clear = io.stdout.isTTY === true ? CLEAR : "";
      print(`${clear}${connected.origin}, ${at}Z\n${fault}\n${statsText(stats, hours, io.nowMs(), call.columns)}\n`);
      await pause(every * 1_000);
      ({ stats, fault } = await polled(connected, hours, stats));
    }
  },
};

/** The next figures; or those of before, and why there are no others. */
export async function polled(
  api: Pick<Api, "stats">,
  hours: number,
  before: Stats,
): Promise<{ stats: Stats; fault: string }> {
  try {
    return { stats: await api.stats(hours), fault: "" };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { stats: before, fault: `The figures are old. ${failureText(error)}\n` };
  }
}

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
function statsText({ since, objects, totals, hours }: Stats, asked: number, nowMs: number, columns: number): string {
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
function extentText({ objects, rows, oldest, bytes: size }: Extent, nowMs: number): string {
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
