import { defineLoopback } from "../../harness/loopback/define.ts";
import { apiLoadValues } from "./findings.ts";
import { CALLERS } from "./mix.ts";
import { API_LOAD_ROW } from "./row.ts";
import { SUBJECTS } from "./subjects.ts";

/** What calls of the API cost the visitors of the same worker, and what decisions cost their callers. */
export const experiment = defineLoopback({
  about: "what calls of the policy's API cost visitors of the same worker, and what decisions cost (12 minutes)",
  row: API_LOAD_ROW,
  subjects: SUBJECTS,
  seconds: 5,
  quickSeconds: 1,
  // Less than overhead's: the callers have to find room beside it.
  openLoadRatio: 0.4,
  question: () => ({ callers: Object.fromEntries(Object.entries(CALLERS).map(([name, { rate }]) => [name, rate])) }),
  report: (summary) => ({ values: apiLoadValues(summary) }),
});
