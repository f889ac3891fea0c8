import { ASSIGNMENT_MS } from "../decision/assignment.ts";
import type { Arms, Estimate } from "./arms.ts";
import type { GroundsChecked } from "./compare.ts";
import { ALPHA, reachAfter } from "./confidence-sequence.ts";
import { effectOf } from "./effect.ts";
import { RTT_CLASS_MS } from "./rtt-classes.ts";
import { mergeArms, type Sums } from "./sums.ts";

/** HTTP/3's effect on pages is another one than before: most likely the server has changed, or the way to it. */
export interface StackChange {
  /** The beginning of the first period of assignment after the change, milliseconds since the epoch. */
  readonly sinceMs: number;
  /** The class of RTT that shows it most. */
  readonly rttClass: number;
  /** ln(HTTP/2's time / HTTP/3's) of the pages whose protocol the offer changed, of that class. */
  readonly before: Estimate;
  readonly since: Estimate;
}

/** What next pages of clients of one class of RTT did in one period of assignment. */
export interface PeriodSums {
  readonly period: number;
  readonly rttClass: number;
  readonly arms: Arms<Sums>;
}

/**
 * A smaller difference of two effects is no other server: they depend on the size of pages and on the loss of clients too, and a
 * campaign or a redesign changes these. The gain of next pages differs by 0.3 and more between TCP's congestion controls.
 */
const DIFFERENCE_MIN = 0.15;
/** How many comparisons there are in 90 days at most, after which a store forgets a period: of each class of RTT, before each period. */
const COMPARED_MAX = (RTT_CLASS_MS.length + 1) * 45;

/**
 * Looks for a period since when offers change pages otherwise than before. Of each class of RTT, all periods before each one are
 * compared with all from then on: the gain of the next pages that changed their protocol, which does not depend on how many did. The
 * one at which most speaks for a change is taken. Undefined: none is shown, or the arms cannot be compared. Pure.
 *
 * Over 90 days of looks a false alarm is as rare as an interval that misses the truth: each comparison has its share of ALPHA.
 */
export function stackChangeOf(sums: readonly PeriodSums[], { objections }: GroundsChecked): StackChange | undefined {
  if (objections.length > 0) return undefined;
  const periods = periodsOf(sums);
  const byClass = [0, ...RTT_CLASS_MS].map((_, rttClass) => {
    const its = periods.map((at) =>
      mergeArms(sums.filter((one) => one.period === at && one.rttClass === rttClass).map(({ arms }) => arms)),
    );
    // Both begin with the sums of no period.
    const upTo = added(its);
    const from = added(its.toReversed()).toReversed();
    return { upTo, from };
  });
  let found: StackChange | undefined;
  let most = 0;
  for (const [i, period] of periods.entries()) {
    const differences = byClass.flatMap(({ upTo, from }, rttClass) => {
      const [before, since] = [upTo[i], from[i]];
      const difference = before && since && differenceOf(before, since);
      return difference === undefined ? [] : [{ rttClass, ...difference }];
    });
    const evidence = differences.reduce((sum, { z }) => sum + z * z, 0);
    const shown = differences.filter(({ isShown }) => isShown).toSorted((a, b) => Math.abs(b.z) - Math.abs(a.z))[0];
    if (shown === undefined || evidence <= most) continue;
    most = evidence;
    const { rttClass, before, since } = shown;
    found = { sinceMs: period * ASSIGNMENT_MS, rttClass, before, since };
  }
  return found;
}

/** In which there are sums, the oldest first. */
export function periodsOf(sums: readonly PeriodSums[]): number[] {
  return [...new Set(sums.map(({ period }) => period))].toSorted((a, b) => a - b);
}

function differenceOf(beforeArms: Arms<Sums>, sinceArms: Arms<Sums>) {
  const [earlier, later] = [effectOf(beforeArms), effectOf(sinceArms)];
  const [before, since] = [earlier?.local, later?.local];
  if (earlier === undefined || later === undefined || before === undefined || since === undefined) return undefined;
  const value = since.value - before.value;
  const se = Math.hypot(since.se, before.se);
  const clients = Math.min(...[earlier, later].map((effect) => effect.clients.offered + effect.clients.withheld));
  const isShown = Math.abs(value) >= DIFFERENCE_MIN && Math.abs(value) > se * reachAfter(clients, ALPHA / COMPARED_MAX);
  return { before, since, z: se > 0 ? value / se : 0, isShown };
}

/** Of each place, the sums of all places before it; last those of the whole list. */
function added(its: readonly Arms<Sums>[]): Arms<Sums>[] {
  const sums = [mergeArms([])];
  for (const one of its) sums.push(mergeArms([sums.at(-1) ?? mergeArms([]), one]));
  return sums;
}
