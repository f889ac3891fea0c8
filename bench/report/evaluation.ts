import type { Arm } from "../experiments/arms.ts";
import { armsOf, type Cell, type Experiment, type Flow } from "../experiments/experiment.ts";
import { imageBytesOf } from "../experiments/flows.ts";
import { withCommonHandshake } from "../run/common-handshake.ts";
import { counts, type LoadRow } from "../run/row.ts";
import { type Interval, ratioOfMeansInterval } from "../stats/bootstrap.ts";
import { seededRandom } from "../stats/random.ts";
import { regret, type Regret } from "../stats/regret.ts";
import { mean, quantileOfSorted } from "../stats/summary.ts";
import { number, percent, percentWithInterval, share, size, withInterval } from "./format.ts";
import { FEW, type Group, groupsOf, isComparable, timesOf } from "./groups.ts";
import { gain, OHASHI_NETWORKS, publishedRegret } from "./published.ts";
import { figuresTable } from "./figures-table.ts";

/** `trained-on-either`: decisions after a visit over either protocol together. */
export type DecisionFlow = Flow | "trained-on-either";

/** Regret of the adaptive arm in one cell and flow. */
export interface CellRegret {
  readonly cell: string;
  readonly network: string;
  readonly congestion: string;
  readonly flow: DecisionFlow;
  readonly regret: Omit<Regret, "expectedDraws">;
}

/** The mean regret over the networks of one congestion control that are no tie. */
export interface MeanRegret {
  readonly congestion: string;
  readonly flow: DecisionFlow;
  readonly networks: number;
  readonly ties: number;
  /** Of `expected`, with the bound that 95 % of such bounds lie above the truth; NaN where it is not known. */
  readonly expected: number;
  readonly upper95: number;
  /** Of `total`. */
  readonly raw: number;
}

/** Null where too few loads of an arm count. */
export interface Gain {
  readonly cell: string;
  readonly fixedH3: Interval | null;
  readonly alwaysOffer: Interval | null;
}

/** What an evaluation of arms found, for summary.json and the tables. */
export interface Evaluation {
  readonly groups: readonly Group[];
  readonly regrets: readonly CellRegret[];
  /** HTTP/3's gain from the first packet and by the switch, of cell and flow `trained`; ratios of means less 1. */
  readonly gains: readonly Gain[];
  /** What `adaptive` takes less than others, after a visit over either protocol; ratios of means less 1. */
  readonly cuts: readonly Cut[];
  readonly means: readonly MeanRegret[];
}

/** Below 0 `adaptive` is faster. Null where too few loads count. */
export interface Cut {
  readonly cell: string;
  readonly fixedH2: Interval | null;
  readonly alwaysOffer: Interval | null;
}

export function evaluate(experiment: Experiment, rows: readonly LoadRow[], seed: number): Evaluation {
  const flows: DecisionFlow[] = [...new Set(experiment.loads.map(({ flow }) => flow))];
  if (flows.includes("trained") && flows.includes("trained-on-h2")) flows.unshift("trained-on-either");
  const found = experiment.cells.flatMap((cell) => flows.flatMap((flow) => regretOf(cell, flow, rows, seed) ?? []));
  return {
    groups: groupsOf(experiment, rows, seed),
    regrets: found.map(({ regret: { expectedDraws: _draws, ...kept }, ...which }) => ({ ...which, regret: kept })),
    means: [...Map.groupBy(found, ({ congestion, flow }) => `${congestion} ${flow}`).values()].map(meanRegret),
    gains: experiment.cells.map((cell) => {
      const stay = timesOf(rows, cell.id, "fixed-h2", "trained");
      const over = (arm: Arm): Interval | null => {
        const times = timesOf(rows, cell.id, arm, "trained");
        if (!["fixed-h2" as const, arm].every((one) => isComparable(rows, cell.id, one, "trained"))) return null;
        return lessOne(ratioOfMeansInterval(stay, times, { random: seededRandom(seed, "gain", cell.id, arm) }));
      };
      return { cell: cell.id, fixedH3: over("fixed-h3"), alwaysOffer: over("always-offer") };
    }),
    cuts: experiment.cells.map((cell) => {
      const adaptive = (["trained", "trained-on-h2"] as const).flatMap((flow) =>
        timesOf(rows, cell.id, "adaptive", flow),
      );
      const against = (arm: Arm): Interval | null => {
        if (!isComparable(rows, cell.id, "adaptive", "trained") || !isComparable(rows, cell.id, arm, "trained"))
          return null;
        const random = seededRandom(seed, "cut", cell.id, arm);
        return lessOne(ratioOfMeansInterval(adaptive, timesOf(rows, cell.id, arm, "trained"), { random }));
      };
      return { cell: cell.id, fixedH2: against("fixed-h2"), alwaysOffer: against("always-offer") };
    }),
  };
}

function lessOne({ estimate, low, high }: Interval): Interval {
  return { estimate: estimate - 1, low: low - 1, high: high - 1 };
}

/** What the arms do whose answers depend on nothing: where they did not run a flow of training, it is `trained`. */
const FIXED_FLOW = {
  "trained-on-either": "trained",
  "trained-on-h2": "trained",
  trained: "trained",
  cold: "cold",
  download: "download",
} as const satisfies Record<DecisionFlow, Flow>;

function regretOf(
  cell: Cell,
  flow: DecisionFlow,
  rows: readonly LoadRow[],
  seed: number,
): (CellRegret & { readonly regret: Regret }) | undefined {
  const fixed = FIXED_FLOW[flow];
  const decided: Flow[] = flow === "trained-on-either" ? ["trained", "trained-on-h2"] : [flow];
  const own = rows.filter((row) => row.cell === cell.id && counts(row));
  const adaptiveRows = own.filter((row) => row.arm === "adaptive" && decided.includes(row.flow));
  const stayRows = own.filter((row) => row.arm === "fixed-h2" && row.flow === fixed);
  const switchRows = own.filter((row) => row.arm === "always-offer" && row.flow === fixed);
  const adaptive = withCommonHandshake(adaptiveRows, stayRows, switchRows);
  const stay = withCommonHandshake(stayRows, adaptiveRows, switchRows);
  const switched = withCommonHandshake(switchRows, adaptiveRows, stayRows);
  const times = (of: readonly LoadRow[]): number[] => of.flatMap(({ loadMs }) => loadMs ?? []);
  const firstByte = (loads: readonly LoadRow[]): number[] => loads.flatMap(({ ttfbMs }) => ttfbMs ?? []);
  const loads = {
    stayMs: times(stay),
    switchMs: times(switched),
    coldMs: timesOf(rows, cell.id, "fixed-h3", fixed),
    adaptive: adaptive.map((row) => ({ loadMs: row.loadMs ?? Number.NaN, switched: row.switched })),
    // Of three pages each is decided anew, and what a change of protocol costs in mid-session is no draw of losses.
    firstByteMs:
      fixed === "cold"
        ? undefined
        : { adaptive: firstByte(adaptiveRows), others: firstByte([...stayRows, ...switchRows]) },
  };
  const arms = ["fixed-h2", "always-offer", "fixed-h3"] as const;
  const comparable =
    arms.every((arm) => isComparable(rows, cell.id, arm, fixed)) &&
    decided.every((of) => isComparable(rows, cell.id, "adaptive", of));
  if (!comparable) return undefined;
  const found = regret(loads, { random: seededRandom(seed, "regret", cell.id, flow) });
  if (found === undefined) return undefined;
  return { cell: cell.id, network: cell.network.name, congestion: cell.congestion, flow, regret: found };
}

/** The tables of one congestion control. */
export function evaluationTables(experiment: Experiment, evaluation: Evaluation, congestion: string): string {
  const cells = experiment.cells.filter((cell) => cell.congestion === congestion);
  return [
    `## TCP congestion control: ${congestion}`,
    ...loadTables(experiment, evaluation, cells),
    besidePublished(evaluation, cells),
    regretTable(evaluation, cells),
    cutTable(evaluation, cells),
    pathTable(evaluation, cells),
  ].join("\n\n");
}

function loadTables(experiment: Experiment, { groups }: Evaluation, cells: readonly Cell[]): string[] {
  const arms = armsOf(experiment);
  return (["trained", "cold"] as const).map((flow) => {
    const rows = cells.map((cell) => [
      ...networkColumns(cell, flow),
      ...arms.map((arm) => {
        const group = find(groups, cell, arm, flow);
        if (group === undefined) return "-";
        const busy = `busy: ${number(group.busyMeanMs)}`;
        if (group.n === 0) return busy;
        const time = `${withInterval(group.meanMs)}, median ${number(group.medianMs.estimate)}`;
        return group.n < FEW ? `${time} (n = ${group.n}; ${busy})` : time;
      }),
      ranOf(groups, cell, flow),
    ]);
    const what = flow === "trained" ? "page, switch if offered, image" : "first visit, three pages with an image each";
    return `### Load time, \`${flow}\` (${what}), mean in ms\n\n${figuresTable([...NETWORK_COLUMNS, ...arms, "n an arm"], rows)}`;
  });
}

/** Gain and share are ratios: they may stand beside the published ones also where the image is smaller. */
function besidePublished({ groups, gains, regrets }: Evaluation, cells: readonly Cell[]): string {
  const rows = cells.map((cell) => {
    const published = OHASHI_NETWORKS.find(({ network }) => network === cell.network.name);
    const found = gains.find((candidate) => candidate.cell === cell.id);
    const adaptive = find(groups, cell, "adaptive", "trained");
    const own = regrets.find((candidate) => candidate.cell === cell.id && candidate.flow === "trained")?.regret;
    return [
      ...networkColumns(cell),
      published === undefined ? "-" : percent(gain(published.h2Ms, published.h3Ms)),
      found?.fixedH3 == null ? TOO_FEW : percentWithInterval(found.fixedH3),
      found?.alwaysOffer == null ? TOO_FEW : percentWithInterval(found.alwaysOffer),
      published === undefined ? "-" : percent(published.h3Share),
      adaptive === undefined ? "-" : share(adaptive.http3),
      published === undefined ? "-" : percent(publishedRegret(published)),
      own?.toFreeChoice === undefined ? TOO_FEW : percentWithInterval(own.toFreeChoice),
    ];
  });
  const heads = [
    "gain of HTTP/3, published",
    "measured",
    "measured, by the switch",
    "HTTP/3 share, published",
    "measured",
    "regret to the free choice, published",
    "measured",
  ];
  return `### Published beside measured (flow \`trained\`)\n\nGain is (load_h2 - load_h3) / load_h3: above 0 HTTP/3 is faster. Not comparable: under five loads of an arm count, or over 30 % of\nits loads were left out for a busy core.\n\n${figuresTable([...NETWORK_COLUMNS, ...heads], rows)}`;
}

function regretTable({ regrets, means }: Evaluation, cells: readonly Cell[]): string {
  const own = regrets.filter(({ cell }) => cells.some(({ id }) => id === cell));
  const rows = own.map(({ network, flow, regret: found }) => [
    network,
    `\`${flow}\``,
    found.tie ? "tie" : found.better,
    percentWithInterval({ ...found.stayToSwitch, ...lessOne(found.stayToSwitch) }),
    share(found.wrong),
    percentWithInterval(found.decision),
    found.expected === undefined ? "-" : percentWithInterval(found.expected),
    found.expected === undefined ? "-" : percent(found.expected.upper95),
    percentWithInterval(found.overhead),
    percentWithInterval(found.total),
    percent(found.total.upper95),
  ]);
  const heads = [
    "network",
    "flow",
    "better",
    "staying costs over switching",
    "wrong choices",
    "regret of decisions",
    "regret",
    "its upper bound (95 %, one-sided)",
    "rest of the load time",
    "raw: adaptive mean / better mean - 1",
    "its upper bound",
  ];
  const sentences = means
    .filter(({ congestion }) => cells.some((cell) => cell.congestion === congestion))
    .map(
      ({ flow, networks, ties, expected, upper95, raw }) =>
        `\`${flow}\`: ${Number.isNaN(expected) ? "" : `${percent(expected)}, at most ${percent(upper95)}; `}raw ${percent(raw)}, over ${networks} networks, ${ties} ties apart`,
    );
  return `### Regret of \`adaptive\`\n\nAgainst the better of staying and switching, which one half of the loads says and the other half scores. Regret is the share of\nwrong choices times what they cost, and what deciding adds to the time of the first byte (difference of means of the middle half): after it an\nadaptive session does what the arm of its choice does. The raw ratio of the means holds the draw of losses of both besides. The first\nhandshake, which comes before any decision, counts in all arms with their common mean. A tie:\nthe interval of stay to switch holds 1. \`trained-on-either\` takes decisions after a visit over either protocol together, as many of\neach as were made (the column of wrong choices has both apart). Means: ${sentences.join(". ")}.\n\n${figuresTable(heads, rows)}`;
}

function cutTable({ cuts }: Evaluation, cells: readonly Cell[]): string {
  const rows = cells.map((cell) => {
    const published = OHASHI_NETWORKS.find(({ network }) => network === cell.network.name);
    const cut = cuts.find((candidate) => candidate.cell === cell.id);
    return [
      ...networkColumns(cell),
      published === undefined ? "-" : percent(published.adaptiveMs / published.h2Ms - 1),
      cut?.fixedH2 == null ? TOO_FEW : percentWithInterval(cut.fixedH2),
      cut?.alwaysOffer == null ? TOO_FEW : percentWithInterval(cut.alwaysOffer),
    ];
  });
  const heads = ["against HTTP/2 alone, published", "measured", "against always offering, measured"];
  return `### What \`adaptive\` changes of the load time\n\nMeans after a visit over either protocol, less 1: below 0 it is faster. The published method's largest cut is 27.8 %, in network 9.\n\n${figuresTable([...NETWORK_COLUMNS, ...heads], rows)}`;
}

/** Draw by draw, as the distances to bounds of skewed figures do not add up. */
function meanRegret(all: readonly (CellRegret & { readonly regret: Regret })[]): MeanRegret {
  const decided = all.filter(({ regret: { tie } }) => !tie).map(({ regret: one }) => one);
  const draws = decided.map(({ expectedDraws }) => expectedDraws ?? []);
  const averaged = (draws[0] ?? []).map((_, i) => mean(draws.map((own) => own[i] ?? Number.NaN)));
  return {
    congestion: all[0]?.congestion ?? "",
    flow: all[0]?.flow ?? "trained",
    networks: decided.length,
    ties: all.length - decided.length,
    expected: mean(decided.map(({ expected }) => expected?.estimate ?? Number.NaN)),
    upper95: averaged.length === 0 ? Number.NaN : quantileOfSorted(Float64Array.from(averaged).sort(), 0.95),
    raw: mean(decided.map(({ total }) => total.estimate)),
  };
}

function pathTable({ groups }: Evaluation, cells: readonly Cell[]): string {
  const rows = cells.map((cell) => {
    const tcp = find(groups, cell, "fixed-h2", "trained")?.tcp;
    const quic = find(groups, cell, "fixed-h3", "trained")?.quic;
    return [
      ...networkColumns(cell),
      ...[tcp, quic].flatMap((path) => [
        number(path?.rttMs),
        number(path?.minRttMs),
        percent(path?.lossRatio),
        number(path?.packetsLost),
        number(path?.deliveryRateBps == null ? null : (path.deliveryRateBps * 8) / 1e6),
      ]),
      number(find(groups, cell, "fixed-h2", "trained")?.edgeCpuMs),
      number(find(groups, cell, "fixed-h3", "trained")?.edgeCpuMs),
    ];
  });
  const of = (transport: string): string[] => [
    `${transport} RTT ms`,
    "min RTT ms",
    "loss",
    "lost packets a load",
    "rate Mbit/s",
  ];
  return `### The path as the edge measured it (\`fixed-h2\`, \`fixed-h3\`, flow \`trained\`)\n\nRTT is smoothed at the connection's end, so that it holds the load's own queue; loss holds what congestion drops.\n\n${figuresTable([...NETWORK_COLUMNS, ...of("TCP"), ...of("QUIC"), "edge CPU ms, h2", "h3"], rows)}`;
}

const TOO_FEW = "not comparable";

const NETWORK_COLUMNS = ["network", "Mbit/s", "loss", "delay ms", "image"];

function networkColumns({ network, imageBytes }: Cell, flow: Flow = "trained"): string[] {
  return [
    network.name,
    String(network.rateMbps),
    `${Number((network.lossRatio * 100).toFixed(2))} %`,
    String(network.delayMs),
    size(imageBytesOf(flow, imageBytes)),
  ];
}

function ranOf(groups: readonly Group[], cell: Cell, flow: Flow): string {
  const numbers = groups.filter((group) => group.cell === cell.id && group.flow === flow).map(({ n }) => n);
  if (numbers.length === 0) return "0";
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(least) : `${least} to ${most}`;
}

function find(groups: readonly Group[], cell: Cell, arm: Arm, flow: Flow): Group | undefined {
  return groups.find((group) => group.cell === cell.id && group.arm === arm && group.flow === flow);
}
