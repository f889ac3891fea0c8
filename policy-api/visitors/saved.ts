import type { Interval } from "./arms.ts";

// Gains as shares of time. A gain of 0.1 is a page in exp(-0.1) of the time: 9.5 % of it is saved.

/** The share of time that a gain saves. Below 0: how much more time it takes. */
export function savedBy(gain: number): number {
  return 1 - Math.exp(-gain);
}

/** `6 to 11 %`: the share of time that gains above 0 save, rounded outwards. */
export function savedText({ low, high }: Interval): string {
  return rangeText(savedBy(low), savedBy(high));
}

/** `6 to 11 %`: how much longer pages take by gains below 0, rounded outwards. */
export function slowedText({ low, high }: Interval): string {
  return rangeText(-savedBy(high), -savedBy(low));
}

/** `-1.2 to 3.4 %`: what gains of either sign save, rounded outwards. */
export function mayBeSavedText({ low, high }: Interval): string {
  return `${(Math.floor(savedBy(low) * 1000) / 10).toFixed(1)} to ${(Math.ceil(savedBy(high) * 1000) / 10).toFixed(1)} %`;
}

/** Whole percentages, or with as many digits as the lower one needs to stay above 0, at most two. */
function rangeText(from: number, to: number): string {
  const digits = [0, 1, 2].find((count) => Math.floor(from * 100 * 10 ** count) > 0) ?? 2;
  const unit = 10 ** digits;
  return `${(Math.floor(from * 100 * unit) / unit).toFixed(digits)} to ${(Math.ceil(to * 100 * unit) / unit).toFixed(digits)} %`;
}
