import type { ReplayTable } from "../analysis/replay/replay.ts";
import { percent, percentWithInterval } from "../analysis/tables/format.ts";
import type { Values } from "../analysis/tables/template.ts";
import { browserReadmeTable } from "../experiments/browser-page/tables.ts";
import { findGroup } from "../experiments/browser-page/summary.ts";
import { methodsAlike, otherStackCosts } from "./claims.ts";
import type { RecordedBrowser } from "./browser-section.ts";
import { decisionsTable } from "./decisions-table.ts";
import type { SavingSummary } from "./recorded.ts";
import { replayReadmeTable } from "./replay-table.ts";

/** The network with the most loss and delay. */
const SLOWEST = "9";

export function savingValues(
  evaluation: SavingSummary,
  browser: RecordedBrowser,
  replay: readonly ReplayTable[],
): Values {
  const cut = (congestion: string, arm: "fixedH2" | "alwaysOffer"): string => {
    const found = evaluation.cuts.find(({ cell }) => cell === `${SLOWEST}-${congestion}`)?.[arm];
    if (found === undefined) throw new Error(`Nothing was recorded about ${SLOWEST}-${congestion}.`);
    // Recorded as a change: less time is below 0.
    return percentWithInterval({ estimate: -found.estimate, low: -found.high, high: -found.low });
  };
  const distant = findGroup(browser, "distant-cubic", "page", "adaptive", 3);
  if (distant === undefined) throw new Error("Nothing was recorded about adaptive on the distant path.");
  return {
    decisions: decisionsTable(evaluation),
    regretCubic: meanRegret(evaluation, "cubic"),
    regretBbr: meanRegret(evaluation, "bbr"),
    cutOfH2: cut("cubic", "fixedH2"),
    cutOfOffers: cut("bbr", "alwaysOffer"),
    browser: browserReadmeTable(browser),
    slowVisits: `${distant.slow} of ${distant.n}`,
    replay: replayReadmeTable(replay),
    alike: methodsAlike(replay),
    otherStack: otherStackCosts(replay),
  };
}

/** `0.4 % (at most 0.9 %)`: after a visit over either protocol. */
export function meanRegret({ means }: SavingSummary, congestion: string): string {
  const mean = means.find((one) => one.congestion === congestion && one.flow === "trained-on-either");
  return `${percent(mean?.expected)} (at most ${percent(mean?.upper95)})`;
}
