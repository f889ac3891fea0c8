import type { Interval } from "./bootstrap.ts";

/** What is said of a published finding, as the recorded figures have it. */
export type Verdict = "Holds" | "Does not hold" | "Not shown";

/** Two times within this are equal. */
const EQUAL = 1.1;

export function verdict(holds: boolean): Verdict {
  return holds ? "Holds" : "Does not hold";
}

/** Whether an interval lies on the published side of a bound, wholly. */
export function sideVerdict(interval: Interval | undefined, expected: "above" | "below", bound = 1): Verdict {
  if (interval === undefined || (interval.low <= bound && interval.high >= bound)) return "Not shown";
  return verdict(interval.low > bound === (expected === "above"));
}

/** Whether a ratio of two times that were published as equal is within 10 %, wholly. */
export function equalVerdict(ratio: Interval | undefined): Verdict {
  if (ratio === undefined) return "Not shown";
  if (ratio.low > 1 / EQUAL && ratio.high < EQUAL) return "Holds";
  return ratio.low > EQUAL || ratio.high < 1 / EQUAL ? "Does not hold" : "Not shown";
}
