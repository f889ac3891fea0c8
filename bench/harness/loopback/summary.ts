import { seededRandom } from "../../analysis/statistics/random.ts";
import { type Figure, figureOf, type Spread, spread } from "../../analysis/statistics/round-figure.ts";
import type { Machine } from "../../model/machine.ts";
import type { Start } from "../../model/recorded-run.ts";
import { type Loop, LOOPS } from "../../model/request-plan.ts";
import { lastDay, lastMachine } from "../machine-text.ts";
import type { LoopbackRow } from "./row.ts";
import { measurementId } from "./schedule.ts";
import type { Subject } from "./subject.ts";

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

/** One subject under one load, over all rounds. */
export interface LoopbackResult {
  readonly loop: Loop;
  readonly subject: string;
  readonly title: string;
  readonly group: string;
  readonly rounds: number;
  /** Of an open loop. */
  readonly rate: number | null;
  /** Absent where there is nothing to measure: workerd in an arm without one. */
  readonly figures: Readonly<Partial<Record<FigureName, Figure>>>;
  readonly originCpuUs: Spread;
  readonly clientCpuUs: Spread;
  /** Of one core, what workerd used. */
  readonly workerdBusyRatio: Spread;
  /** Answers per second of workerd's CPU time: what a core does that does nothing else. */
  readonly answersPerCoreSecond: Spread;
  readonly foreignRatio: Spread;
  readonly answers: number;
  readonly failures: number;
  readonly dropped: number;
  /** Of the worst round; of an open loop. */
  readonly lateP99Ms: number | null;
}

export interface LoopbackSummary {
  readonly command: string;
  readonly day: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly seed: number;
  readonly machine: Machine;
  readonly tools: Readonly<Record<string, string | null>>;
  readonly results: readonly LoopbackResult[];
  /** Of those beside a subject; its title is their group. */
  readonly company: readonly LoopbackResult[];
}

export function summarizeLoopback(run: {
  readonly rows: readonly LoopbackRow[];
  readonly subjects: readonly Subject[];
  readonly command: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly seed: number;
  readonly starts: readonly Start[];
}): LoopbackSummary {
  const { rows, subjects, command, rounds, seconds, seed, starts } = run;
  // A measurement that was interrupted while its rows were written is made again: the last counts.
  const byId = new Map(rows.map((row) => [row.id, row]));
  const rowsOf = (loop: Loop, subject: string): LoopbackRow[] =>
    Array.from({ length: rounds }, (_, round) => byId.get(measurementId(loop, subject, round)) ?? []).flat();
  const resultOf = (loop: Loop, subject: Compared): LoopbackResult[] => {
    const own = rowsOf(loop, subject.name);
    return own.length === 0 ? [] : [summarized(loop, subject, own, (name) => rowsOf(loop, name), seed)];
  };
  return {
    command,
    day: lastDay(rows),
    rounds,
    seconds,
    seed,
    machine: lastMachine(starts),
    tools: starts.at(-1)?.tools ?? {},
    results: LOOPS.flatMap((loop) => subjects.flatMap((subject) => resultOf(loop, subject))),
    company: subjects.flatMap(({ name, title: group, company }) =>
      (company?.members ?? []).flatMap((member) =>
        resultOf("open", { name: `${member.name} beside ${name}`, title: member.title, group }),
      ),
    ),
  };
}

/** @throws Error where nothing was recorded about it */
export function findResult({ results }: LoopbackSummary, loop: Loop, subject: string): LoopbackResult {
  const found = results.find((result) => result.loop === loop && result.subject === subject);
  if (found === undefined) throw new Error(`Nothing was recorded about ${subject} in the ${loop} loop.`);
  return found;
}

type Compared = Pick<Subject, "name" | "title" | "group" | "beside" | "workerdBeside">;

function summarized(
  loop: Loop,
  { name, title, group, beside = name, workerdBeside = beside }: Compared,
  own: readonly LoopbackRow[],
  rowsOf: (subject: string) => readonly LoopbackRow[],
  seed: number,
): LoopbackResult {
  const spreadOf = (value: (row: LoopbackRow) => number | null): Spread =>
    spread(own.flatMap((row) => value(row) ?? []));
  const sum = (column: "answers" | "failures" | "dropped"): number => own.reduce((all, row) => all + row[column], 0);
  const lates = own.flatMap(({ lateP99Ms }) => lateP99Ms ?? []);
  const figures = (Object.keys(FIGURES) as FigureName[]).flatMap((figure) => {
    // What was due at a rate and answered says nothing about how fast it could go.
    if (loop === "open" && figure === "requestsPerSecond") return [];
    const values = (rows: readonly LoopbackRow[]) => rows.map((row) => ({ round: row.round, value: row[figure] }));
    const reference = rowsOf(figure === "workerdCpuUs" ? workerdBeside : beside);
    const random = seededRandom(seed, "interval", loop, ...name.split("/"), figure);
    const found = figureOf(values(own), values(reference), random);
    return found === undefined ? [] : [[figure, found] as const];
  });
  return {
    loop,
    subject: name,
    title,
    group,
    rounds: own.length,
    rate: own[0]?.rate ?? null,
    figures: Object.fromEntries(figures),
    originCpuUs: spreadOf((row) => row.originCpuUs),
    clientCpuUs: spreadOf((row) => row.clientCpuUs),
    workerdBusyRatio: spreadOf((row) => ((row.workerdCpuUs ?? 0) * row.requestsPerSecond) / 1e6),
    answersPerCoreSecond: spreadOf((row) => (row.workerdCpuUs === null ? null : 1e6 / row.workerdCpuUs)),
    foreignRatio: spreadOf((row) => row.foreignRatio),
    answers: sum("answers"),
    failures: sum("failures"),
    dropped: sum("dropped"),
    lateP99Ms: lates.length === 0 ? null : Math.max(...lates),
  };
}
