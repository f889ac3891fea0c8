import { number } from "../tables/format.ts";
import type { Group } from "./groups.ts";

/** The unit of a table's times. */
export interface TimeUnit {
  readonly unit: string;
  readonly ms: number;
}

export const MS: TimeUnit = { unit: "ms", ms: 1 };
export const SECONDS: TimeUnit = { unit: "s", ms: 1_000 };

/** A group's mean time. Where too few loads count, the time of those that were left out for a busy core, if there are any. */
export function meanText(group: Group | undefined, { ms }: TimeUnit, isFew = (group?.n ?? 0) < 2): string {
  if (isFew && group?.busyMeanMs != null) return `busy: ${number(group.busyMeanMs / ms)}`;
  return number((group?.meanMs.estimate ?? Number.NaN) / ms);
}
