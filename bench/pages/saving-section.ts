import { percent, percentWithInterval } from "../analysis/tables/format.ts";
import { browserReadmeTable } from "../experiments/browser-page/tables.ts";
import { type BrowserSummary, findGroup } from "../experiments/browser-page/summary.ts";
import { decisionsTable } from "./network-tables.ts";
import { known, type RecordedEvaluation } from "./recorded.ts";

export function savingValues(evaluation: RecordedEvaluation, browser: BrowserSummary) {
  const distant = known(findGroup(browser, "distant-cubic", "page", "fixed-h3", 3), "fixed-h3 on the distant path");
  return {
    decisions: decisionsTable(evaluation),
    regret: (congestion: string) => meanRegret(evaluation, congestion),
    cut: (cell: string, arm: "fixedH2" | "alwaysOffer") => {
      const found = known(evaluation.cuts.find((one) => one.cell === cell)?.[arm], cell);
      // Recorded as a change: less time is below 0.
      return percentWithInterval({ estimate: -found.estimate, low: -found.high, high: -found.low });
    },
    browser: browserReadmeTable(browser),
    slowVisits: `${distant.slow} of ${distant.n}`,
  };
}

/** `0.4 % (at most 0.9 %)`: after a visit over either protocol. */
function meanRegret({ means }: RecordedEvaluation, congestion: string): string {
  const mean = means.find((one) => one.congestion === congestion && one.flow === "trained-on-either");
  return `${percent(mean?.expected)} (at most ${percent(mean?.upper95)})`;
}
