import { type Interval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { regret } from "../../analysis/statistics/regret.ts";
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
/** From the estimate to a one-sided bound of 95 %, in standard errors. */
const ONE_SIDED = 1.645;
/** Of an arm: a half of fewer has no spread. */
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
  const loads = adaptive.map((row) => ({ loadMs: secondMs(row), switched: row.lastProtocol === "h3" }));
  const [stayMs, switchMs] = [h2.map(secondMs), offered.map(secondMs)];
  const random = seededRandom(seed, "nine-visits", id);
  const { better, tie, stayToSwitch, wrong, total, decision } = regret(
    { stayMs, switchMs, coldMs: switchMs, adaptive: loads },
    { random },
  );
  const visitMs = (all: readonly LoadRow[]): number[] => all.flatMap(({ loadMs }) => loadMs ?? []);
  const best = better === "stay" ? h2 : offered;
  return {
    ...what,
    found: {
      secondMs: { h2: mean(stayMs), offered: mean(switchMs), adaptive: mean(loads.map(({ loadMs }) => loadMs)) },
      /** HTTP/2's second page over that of who is always offered HTTP/3. */
      stayToSwitch,
      tie,
      overH3: mean(loads.map(({ switched }) => (switched ? 1 : 0))),
      wrong,
      raw: total,
      corrected: decision,
      /** Both pages together, over those of the arm whose second page is the better one. */
      visit: ratioOfMeansInterval(visitMs(adaptive), visitMs(best), { random }),
    },
  };
}

/** Of a visit that was not there in time: the timeout. */
function secondMs({ pagesMs, outcome, loadMs }: LoadRow): number {
  return outcome === "timeout" ? (loadMs ?? Number.NaN) : Number(pagesMs.split(";")[1]);
}

type Found = ReturnType<typeof networkOf>;
type Bounded = Interval & { readonly upper95: number };

/** Whether a network keeps the promise; undefined where nothing is promised, or too little was measured. */
export function keeps(raw: Bounded, tie: boolean): boolean | undefined {
  const standardError = (raw.upper95 - raw.estimate) / ONE_SIDED;
  return tie ? undefined : raw.upper95 <= Math.max(BOUND, STANDARD_ERRORS * standardError);
}

export function nineVisitsReport({ networks }: ReturnType<typeof nineVisitsSummary>): Report {
  const bounded = (one: Bounded | undefined): string =>
    one === undefined ? "-" : `${percent(one.estimate)}, at most ${percent(one.upper95)}`;
  const verdict = ({ found }: Found): string => {
    if (found === undefined) return "too few loads";
    const kept = keeps(found.raw, found.tie);
    return kept === undefined ? "tie" : kept ? "keeps it" : "**breaks it**";
  };
  const table = tableOf(networks, [
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
    ["wrong", ({ found }) => percent(found?.wrong.share)],
    ["regret, raw", ({ found }) => bounded(found?.raw)],
    ["corrected", ({ found }) => bounded(found?.corrected)],
    ["both pages, over the better arm's", ({ found }) => withInterval(found?.visit)],
    ["", verdict],
  ]);
  return { values: { boundPercent: percent(BOUND), errors: STANDARD_ERRORS, table } };
}
