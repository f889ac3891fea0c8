import { run } from "k6/x/adaptive-h3";
import type { Load, LoadResult } from "../../model/plan.ts";

/** Runs a load and blocks until it ends, like http.get. Throws only for a load that makes no sense. */
export function load(plan: Load): LoadResult {
  return JSON.parse(run(JSON.stringify(plan))) as LoadResult;
}
