import { type Excess, excessOf, excessText, secondPageMs } from "../../analysis/evaluation/second-page.ts";
import { type Interval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { type Proportion, proportion } from "../../analysis/statistics/proportion.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Cell } from "../../model/cell.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

/** So much more regret than with the own edge's counters is allowed, of load time. */
const BOUND = 0.01;
/** Of an arm: fewer have no spread worth telling. */
const LOADS_MIN = 3;

/** Who decides: by what the own edge counts, or by what Cloudflare and pages tell. */
const DECIDERS = ["adaptive", "as-cloudflare"] as const;
type Decider = (typeof DECIDERS)[number];

interface Decided {
  readonly ms: number;
  /** Second pages over HTTP/3, of all. */
  readonly overH3: number;
  readonly wrong: Proportion;
  /** The share of wrong visits, times what the other protocol takes more. */
  readonly regret: number;
}

interface Found {
  readonly h2Ms: number;
  readonly offeredMs: number;
  /** HTTP/2's second page over that of who is always offered HTTP/3. */
  readonly stayToSwitch: Interval;
  /** Whether neither is known to be faster. */
  readonly isTie: boolean;
  readonly decided: Readonly<Record<Decider, Decided>>;
  /** By how much the regret of `as-cloudflare` is above that of `adaptive`. */
  readonly more: number;
  /** The same in raw load times. */
  readonly moreRaw: Excess;
}

export function cloudflareVisitsSummary({ experiment: { cells }, rows, seed }: LoadsRecorded) {
  return { networks: cells.map((cell) => networkOf(cell, rows, seed)) };
}

function networkOf({ id, network, congestion }: Cell, rows: readonly LoadRow[], seed: number) {
  const of = (arm: LoadRow["arm"]): LoadRow[] =>
    rows.filter((row) => row.cell === id && row.arm === arm && counts(row));
  const [h2, offered, adaptive, asCloudflare] = [
    of("fixed-h2"),
    of("always-offer"),
    of("adaptive"),
    of("as-cloudflare"),
  ];
  const what = { network, congestion, n: [h2, offered, adaptive, asCloudflare].map(({ length }) => length) };
  if (what.n.some((n) => n < LOADS_MIN)) return { ...what, found: undefined };
  const random = seededRandom(seed, "cloudflare-visits", id);
  const [h2Times, offeredTimes] = [h2.map(secondPageMs), offered.map(secondPageMs)];
  const stayToSwitch = ratioOfMeansInterval(h2Times, offeredTimes, { random });
  const stays = stayToSwitch.estimate <= 1;
  const otherTakesMore = Math.max(stayToSwitch.estimate, 1 / stayToSwitch.estimate) - 1;
  const decidedBy = (visits: readonly LoadRow[]): Decided => {
    const overH3 = visits.filter(({ lastProtocol }) => lastProtocol === "h3").length;
    const wrong = proportion(stays ? overH3 : visits.length - overH3, visits.length);
    return {
      ms: mean(visits.map(secondPageMs)),
      overH3: overH3 / visits.length,
      wrong,
      regret: wrong.share * otherTakesMore,
    };
  };
  const decided = { adaptive: decidedBy(adaptive), "as-cloudflare": decidedBy(asCloudflare) };
  const found: Found = {
    h2Ms: mean(h2Times),
    offeredMs: mean(offeredTimes),
    stayToSwitch,
    isTie: stayToSwitch.low <= 1 && stayToSwitch.high >= 1,
    decided,
    more: decided["as-cloudflare"].regret - decided.adaptive.regret,
    moreRaw: excessOf(asCloudflare.map(secondPageMs), adaptive.map(secondPageMs), random),
  };
  return { ...what, found };
}

export type CloudflareVisits = ReturnType<typeof cloudflareVisitsSummary>;
type OfNetwork = CloudflareVisits["networks"][number];

export function cloudflareVisitsReport({ networks }: CloudflareVisits): Report {
  const decided = networks.flatMap(({ found }) => (found === undefined || found.isTie ? [] : [found]));
  const meanRegret = (decider: Decider): string => percent(mean(decided.map((found) => found.decided[decider].regret)));
  return {
    values: {
      bound: percent(BOUND),
      decided: decided.length,
      within: decided.filter(({ more }) => more <= BOUND).length,
      own: meanRegret("adaptive"),
      cloudflare: meanRegret("as-cloudflare"),
      table: cloudflareVisitsTable(networks),
    },
  };
}

function cloudflareVisitsTable(networks: CloudflareVisits["networks"]): string {
  const columnsOf = (decider: Decider): Column<OfNetwork>[] => [
    [`${decider} ms`, ({ found }) => number(found?.decided[decider].ms)],
    ["over HTTP/3", ({ found }) => percent(found?.decided[decider].overH3)],
    ["wrong", ({ found }) => wrongText(found?.decided[decider].wrong)],
    ["regret", ({ found }) => percent(found?.decided[decider].regret)],
  ];
  return tableOf(networks, [
    ["network", ({ network }) => network.name],
    ["TCP", ({ congestion }) => congestion],
    ["loss", ({ network }) => percent(network.lossRatio)],
    ["RTT ms", ({ network }) => number(2 * network.delayMs)],
    ["n", ({ n }) => n.join(", ")],
    ["HTTP/2 ms", ({ found }) => number(found?.h2Ms)],
    ["always offered ms", ({ found }) => number(found?.offeredMs)],
    ["HTTP/2 / offered", ({ found }) => withInterval(found?.stayToSwitch)],
    ...DECIDERS.flatMap(columnsOf),
    ["more regret", ({ found }) => percent(found?.more)],
    ["raw", ({ found }) => (found === undefined ? "-" : excessText(found.moreRaw))],
    ["", ({ found }) => verdictOf(found)],
  ]);
}

function wrongText(wrong: Proportion | undefined): string {
  return wrong === undefined ? "-" : `${wrong.count} of ${wrong.n}`;
}

/** What the loads of a network show of the promise. */
export function verdictOf(found: Pick<Found, "isTie" | "more"> | undefined): string {
  if (found === undefined) return "too few loads";
  if (found.isTie) return "tie";
  return found.more <= BOUND ? "within the bound" : "**breaks it**";
}
