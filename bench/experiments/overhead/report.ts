import { type Figure, figureOf, NOTHING, spread } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { number, percent, size as sizeText, withQuartiles } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { lastDay, lastMachine, runValues } from "../../harness/machine.ts";
import { LOOPBACK_ARMS, type LoopbackArm } from "../../lab/loopback-system.ts";
import { type Loop, LOOPS, type Size, SIZES } from "../../model/request-plan.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";

/** What is measured: one file that clients ask one arm for again and again. */
export interface Subject {
  /** As ids have it: `small/bare`. */
  readonly name: string;
  /** Subjects of one size are measured one after another, in an open loop at one rate: so they can be compared. */
  readonly size: Size;
  readonly arm: LoopbackArm;
}

/** Every arm with files of both sizes. */
export const SUBJECTS: readonly Subject[] = (Object.keys(SIZES) as Size[]).flatMap((size) =>
  (Object.keys(LOOPBACK_ARMS) as LoopbackArm[]).map((arm) => ({ name: `${size}/${arm}`, size, arm })),
);

/**
 * In both loops. So many that none asks for more than about ten pages a second: who opens a hundred is no visitor, and what is kept of
 * one would be most of the cost. Of large responses fewer, as each is asked for twice before the seconds that count.
 */
export const CLIENTS: Readonly<Record<Size, number>> = { small: 200, large: 50 };

/** One subject under one load for some seconds. CPU times are per answer. */
export const LOOPBACK_COLUMNS = {
  id: string(),
  loop: string<Loop>(),
  size: string<Size>(),
  round: float,
  arm: string<LoopbackArm>(),
  startedMs: float,
  clients: float,
  /** Requests per second that were due; null in a closed loop. */
  rate: optionalFloat,
  answers: float,
  /** Answered otherwise than they should be, or not at all. */
  failures: float,
  /** Of an open loop: due when every client still waited for an answer. */
  dropped: float,
  requestsPerSecond: float,
  latencyMedianMs: optionalFloat,
  latencyP90Ms: optionalFloat,
  latencyP99Ms: optionalFloat,
  lateP99Ms: optionalFloat,
  /** Of the edge, of nginx's processes, or of Caddy. */
  frontCpuUs: optionalFloat,
  /** Of workerd; null in arms without. */
  workerdCpuUs: optionalFloat,
  originCpuUs: optionalFloat,
  clientCpuUs: optionalFloat,
  /** Of the machine's cores, what programs used that are no part of this. */
  foreignRatio: optionalFloat,
} as const satisfies RowSchema;

export type LoopbackRow = RowOf<typeof LOOPBACK_COLUMNS>;

/** What orders and resamples are drawn from. */
export const SEED = 1;

export function measurementId(loop: Loop, subject: string, round: number): string {
  return `${loop}/${subject}/${round}`;
}

/** An open loop asks for so much of what the slowest subject of its size did in the closed one. */
export const OPEN_LOAD_RATIO = 0.6;

/** Before the seconds that count: every connection is made and used twice, which takes about half of it. */
export const WARM_SECONDS = 1.5;

/** What is compared, and as tables call it. */
export const FIGURES = {
  requestsPerSecond: "requests/s",
  latencyMedianMs: "latency, median, ms",
  latencyP90Ms: "latency, p90, ms",
  latencyP99Ms: "latency, p99, ms",
  frontCpuUs: "CPU of the edge, us",
  workerdCpuUs: "CPU of workerd, us",
} as const satisfies Partial<Record<keyof LoopbackRow, string>>;
export type FigureName = keyof typeof FIGURES;
const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];
type Figures = Readonly<Record<FigureName, Figure | undefined>>;

/** What each arm does more than another one. */
const ADDS_TO: Partial<Record<LoopbackArm, LoopbackArm>> = {
  subresource: "pass-through",
  "fixed-h3": "pass-through",
  adaptive: "fixed-h3",
};

/** Whose price it is: an arm, and the one beside it that leaves out a single thing; the last leaves out all of them. */
const PRICES: readonly (readonly [arm: LoopbackArm, beside: LoopbackArm])[] = [
  ["njs", "nginx"],
  ["caddy", "nginx"],
  ["bare", "caddy"],
  ["pass-through", "bare"],
  ["adaptive", "pass-through"],
  ["adaptive", "njs"],
];

export type LoopbackSummary = ReturnType<typeof summarizeLoopback>;
/** One subject under one load, over all rounds. */
export type LoopbackResult = LoopbackSummary["results"][number];

export function summarizeLoopback(
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  { rows, command, starts }: Pick<Recorded<unknown, LoopbackRow>, "rows" | "command" | "starts">,
) {
  // A measurement that was interrupted while its rows were written is made again: the last counts.
  const byId = new Map(rows.map((row) => [row.id, row]));
  const rowsOf = (loop: Loop, subject: string): LoopbackRow[] =>
    Array.from({ length: rounds }, (_, round) => byId.get(measurementId(loop, subject, round)) ?? []).flat();
  const resultOf = (loop: Loop, subject: Subject) => {
    const own = rowsOf(loop, subject.name);
    return own.length === 0 ? [] : [summarized(loop, subject, own, (name) => rowsOf(loop, name))];
  };
  const prices = (Object.keys(SIZES) as Size[]).flatMap((size) =>
    PRICES.flatMap(([arm, beside]) => pricesOf(size, arm, beside, (loop, one) => rowsOf(loop, `${size}/${one}`))),
  );
  return {
    command,
    day: lastDay(rows),
    starts,
    rounds,
    seconds,
    results: LOOPS.flatMap((loop) => SUBJECTS.flatMap((subject) => resultOf(loop, subject))),
    // Without other servers that could be to blame there is nothing to say.
    ...(rows.some(({ arm }) => arm === "njs" || arm === "caddy") && { prices }),
  };
}

/** What an arm costs beside another one, as ratios within a round. None where one of them was not measured. */
function pricesOf(
  size: Size,
  arm: LoopbackArm,
  beside: LoopbackArm,
  rowsOf: (loop: Loop, arm: LoopbackArm) => readonly LoopbackRow[],
) {
  const ratioOf = (loop: Loop, name: string, value: (row: LoopbackRow) => number | null) => {
    const values = (one: LoopbackArm) => rowsOf(loop, one).map((row) => ({ round: row.round, value: value(row) }));
    return figureOf(values(arm), values(beside), seededRandom(SEED, "price", loop, size, arm, beside, name))?.ratio;
  };
  const cpuIn = (loop: Loop) => ratioOf(loop, "serversCpuUs", serversCpuUs);
  const isThere = (one: LoopbackArm): boolean => LOOPS.every((loop) => rowsOf(loop, one).length > 0);
  if (!isThere(arm) || !isThere(beside)) return [];
  return [
    {
      group: sizeText(SIZES[size]),
      title: LOOPBACK_ARMS[arm].title,
      beside: LOOPBACK_ARMS[beside].title,
      requestsPerSecond: ratioOf("closed", "requestsPerSecond", (row) => row.requestsPerSecond),
      latencyMedianMs: ratioOf("open", "latencyMedianMs", (row) => row.latencyMedianMs),
      serversCpuUs: { closed: cpuIn("closed"), open: cpuIn("open") },
    },
  ];
}

/** CPU time of all that stands before the origin. */
function serversCpuUs({ frontCpuUs, workerdCpuUs }: LoopbackRow): number | null {
  return frontCpuUs === null ? null : frontCpuUs + (workerdCpuUs ?? 0);
}

/** @throws Error where nothing was recorded about it */
export function findResult({ results }: LoopbackSummary, loop: Loop, subject: string): LoopbackResult {
  const found = results.find((result) => result.loop === loop && result.subject === subject);
  if (found === undefined) throw new Error(`Nothing was recorded about ${subject} in the ${loop} loop.`);
  return found;
}

function summarized(
  loop: Loop,
  { name, size, arm }: Subject,
  own: readonly LoopbackRow[],
  rowsOf: (subject: string) => readonly LoopbackRow[],
) {
  const spreadOf = (value: (row: LoopbackRow) => number | null) => spread(own.flatMap((row) => value(row) ?? []));
  const sum = (column: "answers" | "failures" | "dropped"): number => own.reduce((all, row) => all + row[column], 0);
  const lates = own.flatMap(({ lateP99Ms }) => lateP99Ms ?? []);
  const figureTo = (figure: FigureName, reference: string) => {
    // What was due at a rate and answered says nothing about how fast it could go.
    if (loop === "open" && figure === "requestsPerSecond") return undefined;
    const values = (rows: readonly LoopbackRow[]) => rows.map((row) => ({ round: row.round, value: row[figure] }));
    const random = seededRandom(SEED, "interval", loop, ...name.split("/"), figure);
    return figureOf(values(own), values(rowsOf(reference)), random);
  };
  // A worker that only passes on is the least that workerd can do.
  const figureNamed = (figure: FigureName) =>
    figureTo(figure, `${size}/${figure === "workerdCpuUs" ? "pass-through" : "bare"}`);
  const less = ADDS_TO[arm];
  const addsTo = less && `${size}/${less}`;
  return {
    loop,
    subject: name,
    title: LOOPBACK_ARMS[arm].title,
    group: sizeText(SIZES[size]),
    rounds: own.length,
    /** Requests per second of an open loop. */
    rate: own[0]?.rate ?? null,
    /** Undefined where there is nothing to measure: workerd in an arm without one. */
    figures: Object.fromEntries(FIGURE_NAMES.map((figure) => [figure, figureNamed(figure)])) as Figures,
    /** To the subject that it adds to. */
    added:
      addsTo === undefined
        ? undefined
        : {
            to: addsTo,
            requestsPerSecond: figureTo("requestsPerSecond", addsTo)?.ratio,
            workerdCpuUs: figureTo("workerdCpuUs", addsTo)?.ratio,
          },
    originCpuUs: spreadOf((row) => row.originCpuUs),
    clientCpuUs: spreadOf((row) => row.clientCpuUs),
    foreignRatio: spreadOf((row) => row.foreignRatio),
    answers: sum("answers"),
    failures: sum("failures"),
    dropped: sum("dropped"),
    /** Of the worst round; of an open loop. */
    lateP99Ms: lates.length === 0 ? null : Math.max(...lates),
  };
}

const LATENCY_AND_CPU = ["latencyMedianMs", "latencyP90Ms", "latencyP99Ms", "frontCpuUs", "workerdCpuUs"] as const;
const TITLE: Column<LoopbackResult> = ["", ({ title }) => title];
const COLUMNS = { closed: ["requestsPerSecond", ...LATENCY_AND_CPU], open: LATENCY_AND_CPU } as const;

/** The figures of every arm in each loop and size, what an arm adds to another, and what falls short. */
export function overheadReport(summary: LoopbackSummary): Report {
  const { results, starts, day, rounds, seconds } = summary;
  const tools = starts.at(-1)?.tools ?? {};
  const sizes = (Object.keys(SIZES) as Size[]).map((name) => ({
    size: sizeText(SIZES[name]),
    rate: findResult(summary, "open", `${name}/bare`).rate,
    clients: CLIENTS[name],
  }));
  const sections = LOOPS.flatMap((loop) =>
    sizes.map(({ size, rate }) => {
      const own = results.filter((result) => result.loop === loop && result.group === size);
      return {
        size,
        loop,
        rate: loop === "open" ? `, ${rate} requests/s` : "",
        figures: tableOf(own, [
          TITLE,
          ...COLUMNS[loop].map((name): Column<LoopbackResult> => [
            FIGURES[name],
            ({ figures }) => withQuartiles(figures[name] ?? NOTHING),
          ]),
          ["CPU of the origin, us", ({ originCpuUs }) => number(originCpuUs.median)],
          ["CPU of the client, us", ({ clientCpuUs }) => number(clientCpuUs.median)],
        ]),
        // Within a round; 1 for what the others are held against.
        ratios: tableOf(own, [
          TITLE,
          ...COLUMNS[loop].map((name): Column<LoopbackResult> => [
            FIGURES[name].replace(/, (ms|us)$/, ""),
            ({ figures }) => withQuartiles(figures[name]?.ratio ?? NOTHING).replace("1.00 (1.00 to 1.00)", "1"),
          ]),
        ]),
      };
    }),
  );
  const openRates = sizes.map(({ size, rate, clients }) => `${size}: ${rate}/s over ${clients} connections in turn`);
  return {
    values: {
      ...runValues(summary),
      day,
      cores: lastMachine(starts).cores,
      rounds,
      seconds,
      warmSeconds: WARM_SECONDS,
      openLoad: OPEN_LOAD_RATIO * 100,
      shortfalls: shortfalls(summary),
      foreign: percent(Math.max(...results.map(({ foreignRatio }) => foreignRatio.median))),
      nginx: tools["nginx"] ?? "not to be had: its arm is left out",
      njs: tools["njs"] ?? "",
      caddy: tools["caddy"] ?? "",
      clients: CLIENTS,
      openRates: openRates.join("; "),
      steps: stepsTable(summary),
      prices: pricesTable(summary),
      sections,
    },
  };
}

/** What each arm adds to the one that does the next less: ratios within a round, and the 95 % interval of their median. */
export function stepsTable(summary: LoopbackSummary): string {
  const steps = summary.results.filter(({ loop, added }) => loop === "closed" && added !== undefined);
  return tableOf(steps, [
    ["", ({ title, group }) => `${group}, ${title}`],
    ["beside", ({ subject, added }) => findResult(summary, "closed", added?.to ?? subject).title],
    ["requests/s, closed loop", ({ added }) => withInterval(added?.requestsPerSecond)],
    ["workerd's CPU, closed loop", ({ added }) => withInterval(added?.workerdCpuUs)],
    [
      "workerd's CPU, open loop",
      ({ subject }) => withInterval(findResult(summary, "open", subject).added?.workerdCpuUs),
    ],
  ]);
}

/** Where a page's price comes from; empty in runs that have nothing to hold against it. */
export function pricesTable({ prices = [] }: LoopbackSummary): string {
  if (prices.length === 0) return "";
  return tableOf(prices, [
    ["", ({ group, title }) => `${group}, ${title}`],
    ["beside", ({ beside }) => beside],
    ["requests/s, closed loop", ({ requestsPerSecond }) => withInterval(requestsPerSecond)],
    ["latency, median, open loop", ({ latencyMedianMs }) => withInterval(latencyMedianMs)],
    ["CPU of the servers, closed loop", ({ serversCpuUs: { closed } }) => withInterval(closed)],
    ["CPU of the servers, open loop", ({ serversCpuUs: { open } }) => withInterval(open)],
  ]);
}

/** Without an interval where there are too few rounds for one. */
function withInterval(ratio: Figure["ratio"] | undefined): string {
  if (ratio === undefined || !Number.isFinite(ratio.median)) return "-";
  const { median, interval } = ratio;
  return interval === null ? number(median) : `${number(median)} (${number(interval[0])} to ${number(interval[1])})`;
}

/** From here on k6 itself was late: latencies say less. */
const LATE_MS = 5;
/** Of the cores, from which on other programs are in the figures. */
const FOREIGN_RATIO = 0.05;

/** What a run without a program falls short of. Older runs did not look for all of them. */
const LACKS = {
  nginx: "nginx could not be had: there is nothing to hold the edge against.",
  njs: "njs could not be had: nothing decides in nginx.",
  caddy: "Caddy could not be had: there is no other server in Go to hold the edge against.",
};

export function shortfalls({ results, starts, rounds }: LoopbackSummary): string[] {
  const lines = results.flatMap((result) => {
    const { group, loop, title, answers, failures, dropped, lateP99Ms, foreignRatio } = result;
    const said = [
      failures > 0 && `${count(failures)} of ${count(answers + failures)} were not answered as they should be.`,
      dropped > 0 && `${count(dropped)} requests were not made, as every client still waited.`,
      lateP99Ms !== null &&
        lateP99Ms > LATE_MS &&
        `in the worst round 1 % of the requests left more than ${number(lateP99Ms)} ms late (their latency counts it).`,
      foreignRatio.median > FOREIGN_RATIO && `other programs used ${percent(foreignRatio.median)} of the cores.`,
    ];
    return said.filter((line) => line !== false).map((line) => `${group}, ${loop} loop, ${title}: ${line}`);
  });
  const tools = starts.at(-1)?.tools ?? {};
  for (const [tool, line] of Object.entries(LACKS)) if (tools[tool] === null) lines.push(line);
  if (rounds < 6) lines.push(`${rounds} rounds are too few to go by: run it with more.`);
  return lines;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
