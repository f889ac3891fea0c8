import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { median } from "../../analysis/statistics/summary.ts";
import { type Loop, LOOPS } from "../../model/request-plan.ts";
import type { LoopbackRow } from "./row.ts";
import type { Subject } from "./subject.ts";

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
        .filter(({ loops }) => loops.includes(loop))
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
