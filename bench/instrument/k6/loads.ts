import { sleep } from "k6";
import execution from "k6/execution";
import { print, run } from "k6/x/adaptive-h3";
import type { Plan, Load } from "../../model/plan.ts";

// Runs the loads of a plan one after the other, or one by a crowd at once, and prints a line of JSON for each as soon as it ends.
// Stdout has nothing else: k6's log goes to stderr, and there is no summary.

/** k6's, not a browser's. */
declare const open: (path: string) => string;

const path = __ENV["PLAN"];
if (path === undefined) throw new Error("name the plan: -e PLAN=/path/to/plan.json");
const plan = JSON.parse(open(path)) as Plan;
const [only] = plan.loads;
const { crowd = 1 } = plan;

/** A crowd begins one after another: quic-go refuses what comes while 32 connections wait to be accepted. */
const APART_S = 0.01;

export const options = {
  scenarios: {
    loads: {
      executor: "shared-iterations",
      exec: "nextLoad",
      vus: crowd,
      iterations: crowd * plan.loads.length,
      // Longer than all timeouts together: a load ends by its own deadline.
      maxDuration: `${Math.ceil(plan.loads.reduce((sum, one) => sum + longestMs(one), 60_000) / 1000)}s`,
    },
  },
};

function longestMs({ sessions, timeoutMs }: Load): number {
  return sessions.reduce(
    (sum, { pages, pauseAfterMs }) =>
      pages.reduce((pauses, page) => pauses + (page.pauseAfterMs ?? 0), sum + timeoutMs + pauseAfterMs),
    0,
  );
}

export function nextLoad(): void {
  const number = execution.scenario.iterationInTest;
  if (crowd > 1) sleep(number * APART_S);
  const one = crowd > 1 ? only : plan.loads[number];
  if (one !== undefined) print(run(JSON.stringify({ ...one, control: plan.control })));
}

/** Without it the stock summary would stand at the end of stdout. */
export function handleSummary(): Record<string, string> {
  return {};
}
