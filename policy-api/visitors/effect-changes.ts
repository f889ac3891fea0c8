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
 * Looks for a period since when offers change pages otherwise than before. Of each class of RTT, all periods before each one are
 * compared with all from then on: the gain of the next pages that changed their protocol, which does not depend on how many did. The
 * one at which most speaks for a change is taken. Undefined: none is shown, or the arms cannot be compared. Pure.
 */
export function stackChangeOf(sums: readonly PeriodSums[], { objections }: GroundsChecked): StackChange | undefined {
  if (objections.length > 0) return undefined;
  const periods = periodsOf(sums);
  const byClass = [0, ...RTT_CLASS_MS].map((_, rttClass) =>
    splitsOf(
      sums.filter((one) => one.rttClass === rttClass),
      periods,
    ).map((split) => differenceOf(split, "local", PERIODS_MAX * (RTT_CLASS_MS.length + 1))),
  );
  return strongest(
    periods.map((period, i) => {
      const differences = byClass.flatMap((splits, rttClass) => (splits[i] ? [{ rttClass, ...splits[i] }] : []));
      const shown = differences
        .filter(({ isShown, value }) => isShown && Math.abs(value) >= DIFFERENCE_MIN)
        .toSorted((a, b) => Math.abs(b.z) - Math.abs(a.z))[0];
      if (shown === undefined) return undefined;
      const { rttClass, before, since } = shown;
      const evidence = differences.reduce((sum, { z }) => sum + z * z, 0);
      return { evidence, change: { sinceMs: period * ASSIGNMENT_MS, rttClass, before, since } };
    }),
  );
}

/**
 * Looks for a period since when next pages do not follow offers any more: all periods before each one are compared with all from then
 * on, over all RTTs. That at which most speaks for it is taken. Undefined: none is shown, or the arms cannot be compared. Pure.
 */
export function useChangeOf(sums: readonly PeriodSums[], { objections }: GroundsChecked): UseChange | undefined {
  if (objections.length > 0) return undefined;
  const periods = periodsOf(sums);
  return strongest(
    splitsOf(sums, periods).map((split, i) => {
      const difference = differenceOf(split, "compliance", PERIODS_MAX);
      if (difference === undefined || !difference.isShown || difference.z >= 0) return undefined;
      const { before, since, z } = difference;
      if (before.value < USED_MIN || since.value > LEFT_MAX * before.value) return undefined;
      return { evidence: -z, change: { sinceMs: (periods[i] ?? 0) * ASSIGNMENT_MS, before, since } };
    }),
  );
}

/** That for which most speaks; of equal ones the oldest. */
function strongest<T>(
  found: readonly ({ readonly evidence: number; readonly change: T } | undefined)[],
): T | undefined {
  return found.filter((one) => one !== undefined).toSorted((a, b) => b.evidence - a.evidence)[0]?.change;
}

/** In which there are sums, the oldest first. */
function periodsOf(sums: readonly PeriodSums[]): number[] {
  return [...new Set(sums.map(({ period }) => period))].toSorted((a, b) => a - b);
}

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
