import type { ReplayTable } from "../analysis/replay/replay.ts";
import { percent, percentWithInterval } from "../analysis/tables/format.ts";
import { type Column, tableOf } from "../analysis/tables/table-of.ts";
import { browserReadmeTable } from "../experiments/browser-page/tables.ts";
import { type BrowserSummary, findGroup } from "../experiments/browser-page/summary.ts";
import { methodsAlike, otherStackCosts } from "./claims.ts";
import { decisionsTable } from "./network-tables.ts";
import { known, type RecordedEvaluation } from "./recorded.ts";

export function savingValues(evaluation: RecordedEvaluation, browser: BrowserSummary, replay: readonly ReplayTable[]) {
  const distant = known(findGroup(browser, "distant-cubic", "page", "adaptive", 3), "adaptive on the distant path");
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
    replay: replayTable(replay),
    alike: methodsAlike(replay),
    otherStack: otherStackCosts(replay),
  };
}

/** `0.4 % (at most 0.9 %)`: after a visit over either protocol. */
export function meanRegret({ means }: RecordedEvaluation, congestion: string): string {
  const mean = means.find((one) => one.congestion === congestion && one.flow === "trained-on-either");
  return `${percent(mean?.expected)} (at most ${percent(mean?.upper95)})`;
}

/** Mean and worst regret of every policy in the networks of the other run, after a visit. */
function replayTable(tables: readonly ReplayTable[]): string {
  const chosen = tables.filter(({ on, sessions }) => on === "other run" && sessions === "after a visit");
  return tableOf(chosen[0]?.scores.map(({ contender }) => contender) ?? [], [
    ["policy", (contender) => contender],
    ...chosen.flatMap(({ congestion, scores }): Column<string>[] => {
      const of = (contender: string) => scores.find((one) => one.contender === contender);
      return [
        [`${congestion}: mean`, (contender) => percent(of(contender)?.mean)],
        ["worst", (contender) => percent(of(contender)?.worst)],
      ];
    }),
  ]);
}
