import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { proportion } from "../../analysis/statistics/proportion.ts";
import { type Random, seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { FAR_RATIO, number, percent, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import { defineLoads } from "../../harness/loads/define.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { type Cell, NINE_NETWORKS } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

const BYTES = 1_000_000;
const QUICK_BYTES = 100_000;
const ROUNDS = 20;
/** Where no packet is lost, or none waits: there visits hardly differ, or are short, and each has the machine alone. */
const CLEAN_ROUNDS = 5;
const NEAR_ROUNDS = 8;
const QUICK_ROUNDS = 4;

/** The nine published networks, with visits as browsers make them and the shipped policies. */
function nineVisits({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const rounds = size === "quick" ? QUICK_ROUNDS : ROUNDS;
  const networks = size === "quick" ? NINE_NETWORKS.filter(({ name }) => name === "6") : NINE_NETWORKS;
  const cells = congestions.flatMap((congestion) =>
    networks.map((network): Cell => {
      const imageBytes = bytes ?? (size === "quick" ? QUICK_BYTES : BYTES);
      return { id: `${network.name}-${congestion}`, network, congestion, imageBytes };
    }),
  );
  return {
    loads: (["fixed-h2", "always-offer", "adaptive"] as const).map((arm) => ({ arm, flow: "visit-after-h2" })),
    cells,
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    rounds: size === "usual" ? Object.fromEntries(cells.map((cell) => [cell.id, roundsOf(cell)])) : {},
    timeoutMs: 120_000,
    notes: [
      "A load is a visit of two pages of a document and an image, five seconds apart, by a client that begins on HTTP/2. What is compared is the second page: the first one's answer acts on it.",
      "Before it the clients of `adaptive` have loaded one image over HTTP/2, in a session of its own: the server has measured their path over TCP alone. What the other arms answer does not depend on it.",
      "`adaptive` has the shipped policy of its congestion control, told what the pages transfer.",
    ],
  };
}

function roundsOf({ network: { lossRatio, delayMs } }: Cell): number {
  return lossRatio === 0 ? CLEAN_ROUNDS : delayMs === 0 ? NEAR_ROUNDS : ROUNDS;
}

/** By how much the mean of some times is above that of others. */
interface Excess {
  readonly estimate: number;
  /** One-sided: 95 % of such bounds lie above the truth. */
  readonly upper95: number;
}

/** From an estimate to a one-sided bound of 95 %, in standard errors. */
const ONE_SIDED = 1.645;

function standardErrorOf({ estimate, upper95 }: Excess): number {
  return (upper95 - estimate) / ONE_SIDED;
}

function excessOf(times: readonly number[], others: readonly number[], random: Random): Excess {
  const { estimate, high } = ratioOfMeansInterval(times, others, { random, confidence: 0.9 });
  return { estimate: estimate - 1, upper95: high - 1 };
}

/** A bound of many times as much comes of one load among few: how far says nothing. */
function excessText({ estimate, upper95 }: Excess): string {
  return `${percent(estimate)}, ${upper95 > FAR_RATIO ? "no bound" : `at most ${percent(upper95)}`}`;
}

/** What the second page of a visit took, milliseconds. Of a visit that was not there in time: the timeout. */
function secondPageMs({ pagesMs, outcome, loadMs }: LoadRow): number {
  return outcome === "timeout" ? (loadMs ?? Number.NaN) : Number(pagesMs.split(";")[1]);
}

/** An upper bound on regret in raw load times, or so many standard errors of it where the loads are too few to show that. */
const BOUND = 0.03;
const STANDARD_ERRORS = 3;
/** Of an arm: fewer have no spread worth telling. */
const LOADS_MIN = 4;

function nineVisitsSummary({ experiment: { cells }, rows, seed }: LoadsRecorded) {
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

type NineVisits = ReturnType<typeof nineVisitsSummary>;
type Found = NineVisits["networks"][number];

/** What the loads of a network show of the promise. */
type Shown = "tie" | "within the bound" | "within the errors" | "breaks it";

export function shown(raw: Excess, isTie: boolean): Shown {
  if (isTie) return "tie";
  if (raw.upper95 <= BOUND) return "within the bound";
  return raw.upper95 <= STANDARD_ERRORS * standardErrorOf(raw) ? "within the errors" : "breaks it";
}

function nineVisitsReport({ networks }: NineVisits): Report {
  return { values: { boundPercent: percent(BOUND), errors: STANDARD_ERRORS, table: nineVisitsTable(networks) } };
}

function nineVisitsTable(networks: NineVisits["networks"]): string {
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

export const experiment = defineLoads({ plan: nineVisits, summarise: nineVisitsSummary, report: nineVisitsReport });
