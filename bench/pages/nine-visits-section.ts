import { type NineVisits, nineVisitsTable, shown, type Shown } from "../experiments/nine-visits/findings.ts";
import { type Excess, excessText, ONE_SIDED, standardErrorOf } from "../analysis/evaluation/second-page.ts";
import { mean } from "../analysis/statistics/summary.ts";
import { number, percent } from "../analysis/tables/format.ts";

export type RecordedVisits = NineVisits & { readonly command: string };

export function nineVisitsValues({ command, networks }: RecordedVisits) {
  const found = networks.flatMap(({ found: one, ...what }) => (one === undefined ? [] : [{ ...what, ...one }]));
  const decided = found.filter(({ tie }) => !tie);
  const wrong = decided.map((one) => one.wrong);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    command,
    table: nineVisitsTable(networks),
    networks: networks.length,
    n: `${Math.min(...found.flatMap(({ n }) => n))} to ${Math.max(...found.flatMap(({ n }) => n))}`,
    ties: found.length - decided.length,
    decided: decided.length,
    shown: (what: Shown) => found.filter(({ raw, tie }) => shown(raw, tie) === what).length,
    wrong: `${sum(wrong.map(({ count }) => count))} of ${sum(wrong.map(({ n }) => n))}`,
    /** In mean over a congestion control's networks that are no ties, in raw load times: what adaptive takes more than the better arm. */
    raw: (congestion: string) => meanText(decided.filter((one) => one.congestion === congestion).map(({ raw }) => raw)),
    /** The same of the corrected regret. */
    corrected: (congestion: string) =>
      percent(mean(decided.filter((one) => one.congestion === congestion).map(({ corrected }) => corrected))),
    /** The most that one arm's second page takes of the other's. */
    most: number(Math.max(...decided.map(({ stayToSwitch: { estimate } }) => Math.max(estimate, 1 / estimate)))),
  };
}

/** Of independent networks. */
function meanText(all: readonly Excess[]): string {
  const middle = mean(all.map(({ estimate }) => estimate));
  const upper95 = middle + (ONE_SIDED * Math.hypot(...all.map(standardErrorOf))) / all.length;
  return excessText({ estimate: middle, upper95 });
}
