import { ASSIGNMENT_MS } from "../decision/assignment.ts";
import { type Arms, type Estimate } from "./arms.ts";
import type { GroundsChecked } from "./compare.ts";
import { ALPHA, reachAfter } from "./confidence-sequence.ts";
import { type Effect, effectOf } from "./effect.ts";
import { type PeriodSums, periodsOf } from "./stack-change.ts";
import { mergeArms, type Sums } from "./sums.ts";

/** Offers are followed no more: most likely HTTP/3 has stopped working. */
export interface UseChange {
  /** The beginning of the first period of assignment after the change, milliseconds since the epoch. */
  readonly sinceMs: number;
  /** The share of next pages over HTTP/3 of those offered, less that of those not offered. */
  readonly before: Estimate;
  readonly since: Estimate;
}

/** Offers have stopped to change pages where so little is left of the share that they changed. */
const LEFT_MAX = 0.25;
/** What was hardly ever used cannot stop. */
const USED_MIN = 0.1;
/** How many comparisons there are in 90 days at most: before each period. */
const COMPARED_MAX = 45;

/**
 * Looks for a period since when next pages do not follow offers any more: all periods before each one are compared with all from then
 * on, over all RTTs. That at which most speaks for it is taken. Undefined: none is shown, or the arms cannot be compared. Pure.
 *
 * Over 90 days of looks a false alarm is as rare as an interval that misses the truth.
 */
export function useChangeOf(sums: readonly PeriodSums[], { objections }: GroundsChecked): UseChange | undefined {
  if (objections.length > 0) return undefined;
  let found: UseChange | undefined;
  let most = 0;
  for (const period of periodsOf(sums)) {
    const of = (isOf: (one: PeriodSums) => boolean): Arms<Sums> => mergeArms(sums.filter(isOf).map(({ arms }) => arms));
    const [earlier, later] = [effectOf(of((one) => one.period < period)), effectOf(of((one) => one.period >= period))];
    if (earlier === undefined || later === undefined) continue;
    const z = fallOf(earlier, later);
    if (z <= most) continue;
    most = z;
    found = { sinceMs: period * ASSIGNMENT_MS, before: earlier.compliance, since: later.compliance };
  }
  return found;
}

/** How many of its errors the fall is large. 0: none is shown. */
function fallOf(
  { compliance: before, clients: earlier }: Effect,
  { compliance: since, clients: later }: Effect,
): number {
  const fall = before.value - since.value;
  const se = Math.hypot(before.se, since.se);
  const clients = Math.min(...[earlier, later].map(({ offered, withheld }) => offered + withheld));
  const isShown = fall > se * reachAfter(clients, ALPHA / COMPARED_MAX);
  return isShown && before.value >= USED_MIN && since.value <= LEFT_MAX * before.value ? fall / se : 0;
}
