import { REACH_FIXED } from "../../../policy-api/outcomes/client-day.ts";
import { fixed, SCALE } from "../../../policy-api/outcomes/fixed-point.ts";
import type { Draws } from "./draws.ts";
import { plantedLocal, type Scenario } from "./scenarios.ts";

/** What a client's row holds, as a `ClientDay` of pages without LCP. It is written over by the next client. */
export interface Row {
  decided: number;
  reported: number;
  logs: number;
  predicted: number;
  overH3: number;
  atBound: number;
}

export function emptyRow(): Row {
  return { decided: 0, reported: 0, logs: 0, predicted: 0, overH3: 0, atBound: 0 };
}

export function copyRow(from: Row, to: Row): void {
  to.decided = from.decided;
  to.reported = from.reported;
  to.logs = from.logs;
  to.predicted = from.predicted;
  to.overH3 = from.overH3;
  to.atBound = from.atBound;
}

/** Shares of the variance of ln(time). */
const PREDICTED = 0.3;
const OWN = 0.4;
const EACH_PAGE = 0.3;

/** Pages take this much longer than predicted: no prediction is right. */
const LONGER = Math.log(1.25);
export const CAN_USE_H3 = 0.75;
export const USED_IF_OFFERED = 0.95;
export const USED_UNOFFERED = 0.01;
/** By how many deviations a client that cannot use HTTP/3 is faster. */
const FASTER = 0.2;
/** ln of the odds that a page of usual time reports, if that depends on its time. */
const REPORTS_ODDS = Math.log(9);
const MISSING_AT_RANDOM = 0.05;

/** The difference of the arms' shares of pages over HTTP/3. */
export const COMPLIANCE = CAN_USE_H3 * (USED_IF_OFFERED - USED_UNOFFERED);

/** How ln(time) varies at a coefficient of variation: times are lognormal. */
function deviationOf(cv: number): number {
  return Math.sqrt(Math.log(1 + cv * cv));
}

/**
 * Draws a client, and writes its row, and that of its first page alone. Both assignments draw the same numbers, so that the
 * same client can be drawn under each.
 */
export function clientsOf(scenario: Scenario, draws: Draws): (isOffered: boolean, row: Row, first: Row) => void {
  const deviation = deviationOf(scenario.cv);
  const [sdPredicted = 0, sdOwn = 0, sdPage = 0] = [PREDICTED, OWN, EACH_PAGE].map(
    (share) => Math.sqrt(share) * deviation,
  );
  const local = plantedLocal(scenario);
  const byTime = scenario.missing === "by-time";
  return (isOffered, row, first) => {
    const pages = scenario.pages === "one" ? 1 : draws.pages();
    const x = sdPredicted * draws.normal();
    const canUse = draws.uniform() < CAN_USE_H3;
    const usual = LONGER + sdOwn * draws.normal() - (canUse ? 0 : FASTER * deviation);
    const used = isOffered ? USED_IF_OFFERED : USED_UNOFFERED;
    const predicted = fixed(x);
    row.decided = 1;
    row.reported = row.logs = row.predicted = row.overH3 = row.atBound = 0;
    for (let page = 0; page < pages; page++) {
      const drawn = usual + sdPage * draws.normal();
      const overH3 = draws.uniform() < used && canUse;
      const beyond = overH3 ? drawn - local : drawn;
      const odds = byTime ? REPORTS_ODDS - (beyond - LONGER) / deviation : Math.log(1 / MISSING_AT_RANDOM - 1);
      const reports = draws.logistic() < odds;
      if (reports) {
        const away = Math.round(beyond * SCALE);
        const within = away > REACH_FIXED ? REACH_FIXED : away < -REACH_FIXED ? -REACH_FIXED : away;
        row.reported++;
        row.logs += predicted + within;
        row.predicted += predicted;
        if (overH3) row.overH3++;
        if (within !== away) row.atBound++;
      }
      if (page === 0) copyRow(row, first);
    }
    row.decided = pages;
  };
}
