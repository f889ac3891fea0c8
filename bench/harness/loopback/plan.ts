import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { median } from "../../analysis/statistics/summary.ts";
import type { LoopbackArm } from "../../lab/loopback-system.ts";
import { type LoadPlan, type Loop, LOOPS } from "../../model/request-plan.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";

/** What is measured: one request that clients send again and again to one arm. */
export interface Subject {
  /** As ids have it: `small/bare`. */
  readonly name: string;
  /** As tables call it. */
  readonly title: string;
  /** Subjects of one group are measured one after another, in an open loop at one rate: so they can be compared. */
  readonly group: string;
  /** What its ratios are to, in the same round. */
  readonly beside: string;
  /** What the ratio of workerd's CPU time is to. */
  readonly workerdBeside: string;
  /** The subject that does the next less: what this one adds to it is reported too. */
  readonly addsTo?: string;
  /** What its rows have in the columns that only this experiment has. */
  readonly columns: Readonly<Record<string, string>>;
  readonly arm: LoopbackArm;
  /** Connections, each a client. */
  readonly clients: number;
  readonly request: Pick<LoadPlan, "headers" | "offers" | "bodyBytes"> & { readonly path: string };
}

/** One subject under one load for some seconds. CPU times are per answer. An experiment adds what names its subjects. */
export const LOOPBACK_COLUMNS = {
  id: string(),
  loop: string<Loop>(),
  round: float,
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
  /** Of the edge, or of nginx's processes. */
  frontCpuUs: optionalFloat,
  /** Of workerd; null in arms without. */
  workerdCpuUs: optionalFloat,
  originCpuUs: optionalFloat,
  clientCpuUs: optionalFloat,
  /** Of the machine's cores, what programs used that are no part of this. */
  foreignRatio: optionalFloat,
} as const satisfies RowSchema;

export type LoopbackColumns = typeof LOOPBACK_COLUMNS;
export type LoopbackRow = RowOf<LoopbackColumns>;

/** What orders and resamples are drawn from. */
export const SEED = 1;

export type Measurement = ReturnType<typeof measurements>[number];

export function measurementId(loop: Loop, subject: string, round: number): string {
  return `${loop}/${subject}/${round}`;
}

/**
 * All measurements of a run: first the closed loops, which say how fast the open ones may be. Each round has every group
 * in random order, and every subject of a group in random order. An order is the round's own, so that a run goes on where
 * another stopped.
 */
export function measurements(subjects: readonly Subject[], rounds: number) {
  const groups = [...Map.groupBy(subjects, ({ group }) => group).values()];
  return LOOPS.flatMap((loop) =>
    Array.from({ length: rounds }, (_, round) => round).flatMap((round) => {
      const random = seededRandom(SEED, "subjects", loop, round);
      return shuffle(groups, random)
        .flatMap((group) => shuffle(group, random))
        .map((subject) => ({ id: measurementId(loop, subject.name, round), loop, subject, round }));
    }),
  );
}

/**
 * Requests per second of a group's open loops: a share of what its slowest subject did in the closed loop. Once a row has
 * it, it stays, also where a later command asks for more rounds.
 */
export function openRate(rows: readonly LoopbackRow[], group: readonly Subject[], share: number): number {
  const bySubject = (loop: Loop): LoopbackRow[][] =>
    group.map(({ name }) => rows.filter((row) => row.loop === loop && row.id === measurementId(loop, name, row.round)));
  const given = bySubject("open").flat()[0]?.rate;
  if (given !== undefined && given !== null) return given;
  const speeds = bySubject("closed").flatMap((own) =>
    own.length === 0 ? [] : [median(own.map(({ requestsPerSecond }) => requestsPerSecond))],
  );
  return Math.max(1, Math.round(share * Math.min(...speeds)));
}
