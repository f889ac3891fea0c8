import { type Figure, figureOf, type RoundValue, type Spread, spread } from "../../analysis/statistics/round-figure.ts";
import type { Rounds } from "../../harness/requests.ts";
import { type Loop, LOOPS } from "../../model/request-plan.ts";
import { CLIENTS, WARM_SECONDS } from "../../lab/loopback-clients.ts";
import type { Machine } from "../../model/machine.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import type { Caller } from "./mix.ts";
import type { ApiLoadRow } from "./row.ts";
import { OPEN_LOAD_RATIO } from "./schedule.ts";
import { type Subject, SUBJECT_SETUPS, SUBJECTS } from "./subjects.ts";

export const FIGURES = [
  "requestsPerSecond",
  "latencyMedianMs",
  "latencyP90Ms",
  "latencyP99Ms",
  "frontCpuUs",
  "workerdCpuUs",
] as const satisfies readonly (keyof ApiLoadRow)[];
export type FigureName = (typeof FIGURES)[number];

/** One subject under one load, over all rounds. */
export interface SubjectResult {
  readonly loop: Loop;
  readonly subject: Subject;
  readonly rounds: number;
  /** Of an open loop. */
  readonly rate: number | null;
  /** Requests per second only of the closed loop: the open one's are given. */
  readonly figures: Readonly<Partial<Record<FigureName, Figure>>>;
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

/** One kind of caller beside the visitors, over all rounds. */
export interface CallerResult {
  readonly caller: Caller;
  /** The visitors in the same seconds. */
  readonly beside: Subject;
  readonly rate: number;
  readonly latencyMedianMs: Spread;
  readonly latencyP99Ms: Spread;
  readonly answers: number;
  readonly failures: number;
}

export interface ApiLoadSummary {
  readonly command: string;
  readonly day: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly seed: number;
  readonly machine: Machine;
  readonly closedClients: number;
  readonly openLoadRatio: number;
  readonly results: readonly SubjectResult[];
  readonly callers: readonly CallerResult[];
}

export function summarizeApiLoad(run: {
  rows: readonly ApiLoadRow[];
  command: string;
  options: Rounds;
  machine: Machine;
}): ApiLoadSummary {
  const { rows: all, command, options, machine } = run;
  const { rounds, seconds, seed } = options;
  // A measurement that was interrupted while its rows were written is made again: the last counts.
  const rows = [...new Map(all.map((row) => [row.id, row])).values()];
  return {
    command,
    day: new Date(Math.max(...rows.map(({ startedMs }) => startedMs))).toISOString().slice(0, 10),
    rounds,
    seconds,
    warmSeconds: WARM_SECONDS,
    seed,
    machine,
    closedClients: CLIENTS.closed.small,
    openLoadRatio: OPEN_LOAD_RATIO,
    results: LOOPS.flatMap((loop) =>
      SUBJECTS.filter((subject) => SUBJECT_SETUPS[subject].loops.includes(loop)).map((subject) =>
        subjectResult(
          rows.filter((row) => row.loop === loop),
          loop,
          subject,
          seed,
        ),
      ),
    ),
    callers: SUBJECTS.flatMap((beside) =>
      SUBJECT_SETUPS[beside].callers.map((caller) =>
        callerResult(
          rows.filter((row) => row.subject === `${caller} beside ${beside}`),
          caller,
          beside,
        ),
      ),
    ),
  };
}

function subjectResult(load: readonly ApiLoadRow[], loop: Loop, subject: Subject, seed: number): SubjectResult {
  const { beside } = SUBJECT_SETUPS[subject];
  const own = load.filter((row) => row.subject === subject);
  const lates = own.flatMap(({ lateP99Ms }) => lateP99Ms ?? []);
  const figures = FIGURES.flatMap((name) => {
    if (loop === "open" && name === "requestsPerSecond") return [];
    const values = (of: Subject): RoundValue[] =>
      load.filter((row) => row.subject === of).map((row) => ({ round: row.round, value: row[name] }));
    const figure = figureOf(
      values(subject),
      values(beside ?? subject),
      seededRandom(seed, "interval", loop, subject, name),
    );
    return figure === undefined ? [] : [[name, figure] as const];
  });
  return {
    loop,
    subject,
    rounds: own.length,
    rate: own[0]?.rate ?? null,
    figures: Object.fromEntries(figures),
    workerdBusyRatio: spread(own.map((row) => ((row.workerdCpuUs ?? 0) * row.requestsPerSecond) / 1e6)),
    answersPerCoreSecond: spread(own.flatMap(({ workerdCpuUs }) => (workerdCpuUs === null ? [] : 1e6 / workerdCpuUs))),
    foreignRatio: spread(own.flatMap(({ foreignRatio }) => foreignRatio ?? [])),
    ...counted(own),
    dropped: own.reduce((sum, row) => sum + row.dropped, 0),
    lateP99Ms: lates.length === 0 ? null : Math.max(...lates),
  };
}

function callerResult(own: readonly ApiLoadRow[], caller: Caller, beside: Subject): CallerResult {
  return {
    caller,
    beside,
    rate: own[0]?.rate ?? 0,
    latencyMedianMs: spread(own.flatMap(({ latencyMedianMs }) => latencyMedianMs ?? [])),
    latencyP99Ms: spread(own.flatMap(({ latencyP99Ms }) => latencyP99Ms ?? [])),
    ...counted(own),
  };
}

function counted(rows: readonly ApiLoadRow[]): { answers: number; failures: number } {
  return {
    answers: rows.reduce((sum, row) => sum + row.answers, 0),
    failures: rows.reduce((sum, row) => sum + row.failures, 0),
  };
}
