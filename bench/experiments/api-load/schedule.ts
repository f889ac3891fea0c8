import { type Loop, LOOPS } from "../../model/request-plan.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { median } from "../../analysis/statistics/summary.ts";
import type { ApiLoadRow } from "./row.ts";
import { type Subject, SUBJECT_SETUPS, SUBJECTS } from "./subjects.ts";

export interface Measurement {
  readonly id: string;
  readonly loop: Loop;
  readonly subject: Subject;
  readonly round: number;
}

/**
 * All measurements of a run: first the closed loops, which say how fast the open ones may be. In each round every subject
 * once, in random order; an order is the round's own, so that a run goes on where another stopped.
 */
export function measurements(rounds: number, seed: number): Measurement[] {
  return LOOPS.flatMap((loop) =>
    Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
      shuffle(
        SUBJECTS.filter((subject) => SUBJECT_SETUPS[subject].loops.includes(loop)),
        seededRandom(seed, "subjects", loop, round),
      ).map((subject) => ({ id: `${loop}/${subject}/${round}`, loop, subject, round })),
    ),
  );
}

/** Subjects of one open rate each, so that their latencies can be compared. */
const ALIKE: readonly (readonly Subject[])[] = [
  ["pages", "pages-under-requests", "pages-under-operators", "pages-under-api"],
  ["pass", "decide-1", "decide-100"],
];

/** Of what the slowest did in the closed loop. Less than overhead's 0.6: the callers have to find room beside it. */
export const OPEN_LOAD_RATIO = 0.4;

/**
 * Requests per second of a subject's open loop. Once a row has it, it stays, also where a later command asks for more
 * rounds.
 */
export function openRate(rows: readonly ApiLoadRow[], subject: Subject): number {
  const subjects: readonly string[] = ALIKE.find((group) => group.includes(subject)) ?? [];
  const own = rows.filter((row) => subjects.includes(row.subject));
  const given = own.find(({ loop }) => loop === "open")?.rate;
  if (given !== undefined && given !== null) return given;
  const bySubject = Map.groupBy(
    own.filter(({ loop }) => loop === "closed"),
    (row) => row.subject,
  );
  const slowest = Math.min(...[...bySubject.values()].map((list) => median(list.map((row) => row.requestsPerSecond))));
  return Math.max(1, Math.round(OPEN_LOAD_RATIO * slowest));
}
