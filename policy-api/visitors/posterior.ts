import { type GainTable, rttCoordinate } from "../decision/gain-table.ts";
import type { Figure } from "./figures.ts";

/** What is thought of several figures at once: their means, and how uncertain they are together. */
export interface Beliefs {
  readonly means: readonly number[];
  readonly covariance: readonly (readonly number[])[];
}

/** A weighted sum of figures. Those that are not named weigh nothing. */
export type Weights = readonly (readonly [index: number, weight: number])[];

/** A weighted sum of the figures, as it was observed. */
export interface Observation {
  readonly weights: Weights;
  readonly value: number;
  readonly variance: number;
}

/**
 * The figures after observations: the normal posterior (Kalman updates). It is the same whenever one looks, so evidence
 * counts with its variance at this look, and not with the interval that holds at every look. Pure.
 */
export function posterior(prior: Beliefs, observations: readonly Observation[]): Beliefs {
  const means = prior.means.slice();
  const covariance = prior.covariance.map((row) => row.slice());
  for (const { weights, value, variance } of observations) {
    const along = covariance.map((row) => weighted(row, weights));
    const total = variance + weighted(along, weights);
    // Nothing is left to be learnt.
    if (!(total > 0)) continue;
    const surprise = value - weighted(means, weights);
    for (const [i, row] of covariance.entries()) {
      const gain = (along[i] ?? 0) / total;
      means[i] = (means[i] ?? 0) + gain * surprise;
      for (let j = 0; j < row.length; j++) row[j] = (row[j] ?? 0) - gain * (along[j] ?? 0);
    }
  }
  return { means, covariance };
}

function weighted(figures: readonly number[], weights: Weights): number {
  return weights.reduce((sum, [index, weight]) => sum + weight * (figures[index] ?? 0), 0);
}

/** The variance of a weighted sum of the figures. */
export function varianceOf({ covariance }: Beliefs, weights: Weights): number {
  const along = covariance.map((row) => weighted(row, weights));
  return Math.max(0, weighted(along, weights));
}

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
