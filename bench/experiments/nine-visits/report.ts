import {
  type Excess,
  excessOf,
  excessText,
  secondPageMs,
  standardErrorOf,
} from "../../analysis/evaluation/second-page.ts";
import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { proportion } from "../../analysis/statistics/proportion.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Cell } from "../../model/cell.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

/** An upper bound on regret in raw load times, or so many standard errors of it where the loads are too few to show that. */
const BOUND = 0.03;
const STANDARD_ERRORS = 3;
/** Of an arm: fewer have no spread worth telling. */
const LOADS_MIN = 4;

export function nineVisitsSummary({ experiment: { cells }, rows, seed }: LoadsRecorded) {
  return { networks: cells.map((cell) => networkOf(cell, rows, seed)) };
}

function networkOf({ id, network, congestion, imageBytes }: Cell, rows: readonly LoadRow[], seed: number) {
  const of = (arm: LoadRow["arm"]): LoadRow[] =>
    rows.filter((row) => row.cell === id && row.arm === arm && counts(row));
  const [h2, offered, adaptive] = [of("fixed-h2"), of("always-offer"), of("adaptive")];
  const what = { network, congestion, imageBytes, n: [h2.length, offered.length, adaptive.length] };
  if (what.n.some((n) => n < LOADS_MIN)) return { ...what, found: undefined };
  const random = seededRandom(seed, "nine-visits", id);
  const times = { h2: h2.map(secondPageMs), offered: offered.map(secondPageMs), adaptive: adaptive.map(secondPageMs) };
  const stayToSwitch = ratioOfMeansInterval(times.h2, times.offered, { random });
  const stays = stayToSwitch.estimate <= 1;
  const [better, worse] = stays ? [times.h2, times.offered] : [times.offered, times.h2];
  const overH3 = adaptive.filter(({ lastProtocol }) => lastProtocol === "h3").length;
  const wrong = proportion(stays ? overH3 : adaptive.length - overH3, adaptive.length);
  const visitMs = (all: readonly LoadRow[]): number[] => all.flatMap(({ loadMs }) => loadMs ?? []);
  return {
    ...what,
    found: {
      secondMs: { h2: mean(times.h2), offered: mean(times.offered), adaptive: mean(times.adaptive) },
      /** HTTP/2's second page over that of who is always offered HTTP/3. */
      stayToSwitch,
      /** Whether neither is known to be faster. */
      tie: stayToSwitch.low <= 1 && stayToSwitch.high >= 1,
      overH3: overH3 / adaptive.length,
      wrong,
      raw: excessOf(times.adaptive, better, random),
      corrected: wrong.share * (mean(worse) / mean(better) - 1),
      /** Both pages together, over those of the arm whose second page is the better one. */
      visit: ratioOfMeansInterval(visitMs(adaptive), visitMs(stays ? h2 : offered), { random }),
    },
  };
}

export type NineVisits = ReturnType<typeof nineVisitsSummary>;
type Found = NineVisits["networks"][number];

/** What the loads of a network show of the promise. */
export type Shown = "tie" | "within the bound" | "within the errors" | "breaks it";

export function shown(raw: Excess, isTie: boolean): Shown {
  if (isTie) return "tie";
  if (raw.upper95 <= BOUND) return "within the bound";
  return raw.upper95 <= STANDARD_ERRORS * standardErrorOf(raw) ? "within the errors" : "breaks it";
}

export function nineVisitsReport({ networks }: NineVisits): Report {
  return { values: { boundPercent: percent(BOUND), errors: STANDARD_ERRORS, table: nineVisitsTable(networks) } };
}

export function nineVisitsTable(networks: NineVisits["networks"]): string {
  const verdict = ({ found }: Found): string => {
    if (found === undefined) return "too few loads";
    const says = shown(found.raw, found.tie);
    return says === "breaks it" ? `**${says}**` : says;
  };
  return tableOf(networks, [
    ["network", ({ network }) => network.name],
    ["TCP", ({ congestion }) => congestion],
    ["loss", ({ network }) => percent(network.lossRatio)],
    ["RTT ms", ({ network }) => number(2 * network.delayMs)],
    ["n", ({ n }) => n.join(", ")],
    ["HTTP/2 ms", ({ found }) => number(found?.secondMs.h2)],
    ["always offered ms", ({ found }) => number(found?.secondMs.offered)],
    ["HTTP/2 / offered", ({ found }) => withInterval(found?.stayToSwitch)],
    ["adaptive ms", ({ found }) => number(found?.secondMs.adaptive)],
    ["over HTTP/3", ({ found }) => percent(found?.overH3)],
    ["wrong", ({ found }) => (found === undefined ? "-" : `${found.wrong.count} of ${found.wrong.n}`)],
    ["regret, raw", ({ found }) => (found === undefined ? "-" : excessText(found.raw))],
    ["corrected", ({ found }) => percent(found?.corrected)],
    ["both pages, over the better arm's", ({ found }) => withInterval(found?.visit)],
    ["", verdict],
  ]);
}
