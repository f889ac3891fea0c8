import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { median } from "../../analysis/statistics/summary.ts";
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
  /** Of the edge, or of nginx's processes. */
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

export type Measurement = ReturnType<typeof measurements>[number];

export function measurementId(loop: Loop, subject: string, round: number): string {
  return `${loop}/${subject}/${round}`;
}

/**
 * All measurements of a run: first the closed loops, which say how fast the open ones may be. Each round has both sizes
 * in random order, and every subject of a size in random order. An order is the round's own, so that a run goes on where
 * another stopped.
 */
export function measurements(subjects: readonly Subject[], rounds: number) {
  const groups = [...Map.groupBy(subjects, ({ size }) => size).values()];
  return LOOPS.flatMap((loop) =>
    Array.from({ length: rounds }, (_, round) => round).flatMap((round) => {
      const random = seededRandom(SEED, "subjects", loop, round);
      return shuffle(groups, random)
        .flatMap((group) => shuffle(group, random))
        .map((subject) => ({ id: measurementId(loop, subject.name, round), loop, subject, round }));
    }),
  );
}

/** An open loop asks for so much of what the slowest subject of its size did in the closed one. */
export const OPEN_LOAD_RATIO = 0.6;

/** Requests per second of a size's open loops. Once a row has it, it stays, also where a later command asks for more rounds. */
export function openRate(rows: readonly LoopbackRow[], size: Size): number {
  const own = rows.filter((row) => row.size === size);
  const given = own.find(({ loop, rate }) => loop === "open" && rate !== null)?.rate;
  if (given !== undefined && given !== null) return given;
  const closed = Map.groupBy(
    own.filter(({ loop }) => loop === "closed"),
    ({ arm }) => arm,
  );
  const speeds = [...closed.values()].map((some) => median(some.map(({ requestsPerSecond }) => requestsPerSecond)));
  return Math.max(1, Math.round(OPEN_LOAD_RATIO * Math.min(...speeds)));
}
