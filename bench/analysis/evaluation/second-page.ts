import { ratioOfMeansInterval } from "../statistics/bootstrap.ts";
import type { Random } from "../statistics/random.ts";
import { FAR_RATIO, percent } from "../tables/format.ts";
import type { LoadRow } from "../../model/load-row.ts";

/** By how much the mean of some times is above that of others. */
export interface Excess {
  readonly estimate: number;
  /** One-sided: 95 % of such bounds lie above the truth. */
  readonly upper95: number;
}

/** From an estimate to a one-sided bound of 95 %, in standard errors. */
export const ONE_SIDED = 1.645;

export function standardErrorOf({ estimate, upper95 }: Excess): number {
  return (upper95 - estimate) / ONE_SIDED;
}

export function excessOf(times: readonly number[], others: readonly number[], random: Random): Excess {
  const { estimate, high } = ratioOfMeansInterval(times, others, { random, confidence: 0.9 });
  return { estimate: estimate - 1, upper95: high - 1 };
}

/** A bound of many times as much comes of one load among few: how far says nothing. */
export function excessText({ estimate, upper95 }: Excess): string {
  return `${percent(estimate)}, ${upper95 > FAR_RATIO ? "no bound" : `at most ${percent(upper95)}`}`;
}

/** What the second page of a visit took, milliseconds. Of a visit that was not there in time: the timeout. */
export function secondPageMs({ pagesMs, outcome, loadMs }: LoadRow): number {
  return outcome === "timeout" ? (loadMs ?? Number.NaN) : Number(pagesMs.split(";")[1]);
}
