import { seededRandom } from "../../analysis/statistics/random.ts";
import { type Figure, figureOf, spread } from "../../analysis/statistics/bootstrap.ts";
import { size as sizeText } from "../../analysis/tables/format.ts";
import { LOOPBACK_ARMS, type LoopbackArm } from "../../lab/loopback-system.ts";
import { type Loop, LOOPS, SIZES } from "../../model/request-plan.ts";
import type { Recorded } from "../experiment.ts";
import { lastDay } from "../machine.ts";
import { type LoopbackRow, measurementId, SEED, type Subject, SUBJECTS } from "./plan.ts";

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
  return {
    command,
    day: lastDay(rows),
    starts,
    rounds,
    seconds,
    results: LOOPS.flatMap((loop) => SUBJECTS.flatMap((subject) => resultOf(loop, subject))),
  };
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
