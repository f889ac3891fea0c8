import { ASSIGNMENT_MS } from "../decision/assignment.ts";
import type { GroundsChecked } from "./compare.ts";
import { type Effect, effectOf } from "./effect.ts";
import { ALPHA, type Arms, type Estimate, reachAfter } from "./intervals.ts";
import { RTT_CLASS_MS } from "./row-keys.ts";
import { mergeArms, type Sums } from "./sums.ts";

// Whether HTTP/3's effect on next pages changes from one period of assignment to the next. Over 90 days of looks a false alarm is as rare
// as an interval that misses the truth: each comparison has its share of ALPHA.

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

/** Offers are followed no more: most likely HTTP/3 has stopped working. Estimates: the share of next pages over HTTP/3 of those offered, less that of the others. */
export type UseChange = Omit<StackChange, "rttClass">;

/** What next pages of clients of one class of RTT did in one period of assignment. */
export interface PeriodSums {
  readonly period: number;
  readonly rttClass: number;
  readonly arms: Arms<Sums>;
}

/** How many periods there are before which two times are compared: those of 90 days, after which a store forgets a period. */
const PERIODS_MAX = 45;
/**
 * A smaller difference of two effects is no other server: they depend on the size of pages and on the loss of clients too, and a
 * campaign or a redesign changes these. The gain of next pages differs by 0.3 and more between TCP's congestion controls.
 */
const DIFFERENCE_MIN = 0.15;
/** Offers have stopped to change pages where so little is left of the share that they changed. */
const LEFT_MAX = 0.25;
/** What was hardly ever used cannot stop. */
const USED_MIN = 0.1;

/**
 * Looks for a period since when offers change pages otherwise than before, of each class of RTT: by the gain of the next pages that
 * changed their protocol, which does not depend on how many did. Undefined: none is shown, or the arms cannot be compared. Pure.
 */
export function stackChangeOf(sums: readonly PeriodSums[], grounds: GroundsChecked): StackChange | undefined {
  const classes = [0, ...RTT_CLASS_MS].map((_, rttClass) => sums.filter((one) => one.rttClass === rttClass));
  return changeOf(sums, grounds, classes, "local", ({ value }) => Math.abs(value) >= DIFFERENCE_MIN);
}

/**
 * Looks for a period since when next pages do not follow offers any more, over all RTTs. Undefined: none is shown, or the arms cannot
 * be compared. Pure.
 */
export function useChangeOf(sums: readonly PeriodSums[], grounds: GroundsChecked): UseChange | undefined {
  return changeOf(sums, grounds, [sums], "compliance", ({ value, before, since }) => {
    return value < 0 && before.value >= USED_MIN && since.value <= LEFT_MAX * before.value;
  });
}

/**
 * Of each class, all periods before each one are compared with all from then on. The period at which most speaks for a change is taken;
 * of equal ones the oldest.
 */
function changeOf(
  sums: readonly PeriodSums[],
  { objections }: GroundsChecked,
  classes: readonly (readonly PeriodSums[])[],
  of: "local" | "compliance",
  isChange: (difference: Difference) => boolean,
): StackChange | undefined {
  if (objections.length > 0) return undefined;
  const periods = [...new Set(sums.map(({ period }) => period))].toSorted((a, b) => a - b);
  const byClass = classes.map((its) =>
    splitsOf(its, periods).map((split) => differenceOf(split, of, PERIODS_MAX * classes.length)),
  );
  const found = periods.flatMap((period, i) => {
    const differences = byClass.flatMap((splits, rttClass) => (splits[i] ? [{ rttClass, ...splits[i] }] : []));
    const [shown] = differences
      .filter((one) => one.isShown && isChange(one))
      .toSorted((a, b) => Math.abs(b.z) - Math.abs(a.z));
    if (shown === undefined) return [];
    const { rttClass, before, since } = shown;
    const evidence = differences.reduce((sum, { z }) => sum + z * z, 0);
    return [{ evidence, change: { sinceMs: period * ASSIGNMENT_MS, rttClass, before, since } }];
  });
  return found.toSorted((a, b) => b.evidence - a.evidence)[0]?.change;
}

type Difference = NonNullable<ReturnType<typeof differenceOf>>;
type Split = readonly [before: Effect | undefined, since: Effect | undefined];

/** At each period, the effect in all periods before it, and in all from then on. */
function splitsOf(sums: readonly PeriodSums[], periods: readonly number[]): Split[] {
  const its = periods.map((at) => mergeArms(sums.filter(({ period }) => period === at).map(({ arms }) => arms)));
  const upTo = running(its);
  const from = running(its.toReversed()).toReversed();
  return periods.map((_, i) => [effectOf(upTo[i] ?? mergeArms([])), effectOf(from[i] ?? mergeArms([]))]);
}

/** Of each place, the sums of all places before it; last those of the whole list. */
function running(its: readonly Arms<Sums>[]): Arms<Sums>[] {
  const sums = [mergeArms([])];
  for (const one of its) sums.push(mergeArms([sums.at(-1) ?? mergeArms([]), one]));
  return sums;
}

/** @param comparisons How many there are in all. */
function differenceOf(effects: Split, of: "local" | "compliance", comparisons: number) {
  const [before, since] = effects.map((effect) => effect?.[of]);
  if (before === undefined || since === undefined) return undefined;
  const value = since.value - before.value;
  const se = Math.hypot(since.se, before.se);
  const clients = Math.min(...effects.map((effect) => (effect ? effect.clients.offered + effect.clients.withheld : 0)));
  const isShown = Math.abs(value) > se * reachAfter(clients, ALPHA / comparisons);
  return { before, since, value, z: se > 0 ? value / se : 0, isShown };
}
