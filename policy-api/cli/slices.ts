import type { Results, Slice } from "../api/contract/results.ts";
import { count, counted } from "./quantities.ts";

// How a table and a picture name the same figures.

export type NamedSlice = readonly [name: string, slice: Slice];

/** All clients, then each class of RTT. */
export function allAndClasses({ everyone, rttClasses }: Results): readonly NamedSlice[] {
  return [["all", everyone], ...rttClasses.map((slice): NamedSlice => [classText(slice), slice])];
}

function classText({ fromMs, toMs }: Results["rttClasses"][number]): string {
  if (toMs === null) return `${fromMs} ms and more`;
  return fromMs === 0 ? `under ${toMs} ms` : `${fromMs} to ${toMs} ms`;
}

/** `2.6 to 5.0`, in percent. Undefined while too few clients have reported. */
export function savedRange(slice: Slice, outcome: "load" | "lcp"): string | undefined {
  const { saved } = slice[outcome];
  return saved === null ? undefined : `${inPercent(saved.low)} to ${inPercent(saved.high)}`;
}

export function inPercent(share: number): string {
  return (share * 100).toFixed(1);
}

/** Whose clients are missing, as a sentence. Undefined if every object of the store answered. */
export function missingObjects({ asked, answered }: Results["objects"]): string | undefined {
  return answered < asked
    ? `${count(asked - answered)} of ${counted(asked, "object")} of the store did not answer: their clients are missing.`
    : undefined;
}
