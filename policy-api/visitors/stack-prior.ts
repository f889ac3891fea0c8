import { type GainTable, rttCoordinate } from "../decision/gain-table.ts";
import type { Figure } from "./figures.ts";
import type { Beliefs } from "./posterior.ts";

/**
 * By how much a gain differs from one stack to another, as a deviation of ln: `most` x sqrt(loss) more than without loss, half
 * of it for a return, less on paths under 20 ms. By the six tables of policy-api/policies: without loss 0.2 to 0.4 for a next
 * page and 0.1 to 0.2 for a return, at 5 % loss 1.3 and 0.9, and a quarter to a half of it at 5 ms.
 */
const BETWEEN_STACKS = { least: 0.3, most: 4.5, ofReturn: 0.5, fullFromMs: 20 } as const;

/**
 * Stacks differ in all places together: correlations of the same six tables. A step is one node of loss, a factor of 10 in
 * bytes, and a factor of e in RTT.
 */
const TOGETHER = { lossStep: 0.87, sizeStep: 0.65, rttStep: 0.97, otherPart: 0.75 } as const;

/** By how much the price of an offer differs. Assumed: it was measured with two senders. */
const PRICE_BETWEEN_STACKS = 0.05;

/**
 * What is thought of a table's figures on a stack that it was not measured on, or on a site that is not the bench: they are as
 * they stand, but each is as uncertain as it was measured, and differs from stack to stack besides; most of that is the same
 * in all places. Pure.
 */
export function stackPrior(table: GainTable, figures: readonly Figure[]): Beliefs {
  const deviations = figures.map((figure) => Math.max(figure.se, betweenStacks(table, figure)));
  return {
    means: figures.map(({ value }) => value),
    covariance: figures.map((a, i) =>
      figures.map((b, j) => (deviations[i] ?? 0) * (deviations[j] ?? 0) * correlation(table, a, b)),
    ),
  };
}

/** The deviation of one figure from stack to stack. */
export function betweenStacks({ lossRatio, rttMs }: GainTable, { part, loss, rtt }: Figure): number {
  if (part === "price") return PRICE_BETWEEN_STACKS;
  const { least, most, ofReturn, fullFromMs } = BETWEEN_STACKS;
  const near = Math.sqrt(Math.min(1, (rttMs[rtt] ?? 0) / fullFromMs));
  return (least + most * Math.sqrt(lossRatio[loss] ?? 0)) * (part === "return" ? ofReturn : 1) * near;
}

/** How much two figures differ together. */
export function correlation({ rttMs, contentBytes }: GainTable, a: Figure, b: Figure): number {
  const { lossStep, sizeStep, rttStep, otherPart } = TOGETHER;
  const byRtt = rttStep ** Math.abs(rttCoordinate(rttMs[a.rtt] ?? 0) - rttCoordinate(rttMs[b.rtt] ?? 0));
  if (a.part === "price" || b.part === "price") return a.part === b.part ? byRtt : 0;
  const decades = Math.abs(Math.log10((contentBytes[a.size] ?? 1) / (contentBytes[b.size] ?? 1)));
  return lossStep ** Math.abs(a.loss - b.loss) * sizeStep ** decades * byRtt * (a.part === b.part ? 1 : otherPart);
}
