import type { Arm } from "../../model/arm.ts";
import type { Flow } from "../../model/flow.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { type Interval, ratioOfMeansInterval } from "../statistics/bootstrap.ts";
import type { Random } from "../statistics/random.ts";
import { FAR_RATIO } from "../tables/format.ts";
import { isComparable, timesOf } from "./groups.ts";

/** The loads of an arm and flow in a cell. */
export interface Loads {
  readonly cell: string;
  readonly arm: Arm;
  readonly flow: Flow;
}

/** The mean time of `a` over that of `b`; undefined where too few loads of either count, or there are none. */
export function ratioOfLoads(
  rows: readonly LoadRow[],
  a: Loads | undefined,
  b: Loads | undefined,
  random: Random,
): Interval | undefined {
  const timesIn = (loads: Loads | undefined): number[] => {
    if (loads === undefined) return [];
    const { cell, arm, flow } = loads;
    return isComparable(rows, cell, arm, flow) ? timesOf(rows, cell, arm, flow) : [];
  };
  const [timesA, timesB] = [timesIn(a), timesIn(b)];
  return timesA.length === 0 || timesB.length === 0 ? undefined : ratioOfMeansInterval(timesA, timesB, { random });
}

/** A ratio as a picture shows it: a bound that is far out would only stretch the axis. */
export function ratioPoint({ estimate, low, high }: Interval): { ratio: number; low: number; high: number } {
  return { ratio: estimate, low: Math.max(low, estimate / FAR_RATIO), high: Math.min(high, estimate * FAR_RATIO) };
}
