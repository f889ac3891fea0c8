import type { Arm } from "../../model/arm.ts";
import { armsOf, type LoadExperiment } from "../../model/load-experiment.ts";
import type { Cell } from "../../model/cell.ts";
import { type Flow, imageBytesOf } from "../../model/flow.ts";
import { type Evaluation, lessOne } from "./evaluation.ts";
import { figuresTable } from "../tables/figures-table.ts";
import { number, percent, percentWithInterval, share, size, withInterval } from "../tables/format.ts";
import { FEW, type Group } from "../loads/groups.ts";
import { gain, OHASHI_NETWORKS, publishedRegret } from "./published.ts";

/** The tables of one congestion control, by their names in the template. */
export function evaluationTables(experiment: LoadExperiment, evaluation: Evaluation, congestion: string) {
  const cells = experiment.cells.filter((cell) => cell.congestion === congestion);
  return {
    congestion,
    loads: loadTables(experiment, evaluation, cells),
    published: besidePublished(evaluation, cells),
    regret: regretTable(evaluation, cells),
    means: meansText(evaluation, cells),
    cuts: cutTable(evaluation, cells),
    paths: pathTable(evaluation, cells),
  };
}

/** The flows of whole pages that the experiment has. */
export function pagedFlows({ loads }: LoadExperiment): ("trained" | "cold")[] {
  return (["trained", "cold"] as const).filter((one) => loads.some(({ flow }) => flow === one));
}

function loadTables(experiment: LoadExperiment, { groups }: Evaluation, cells: readonly Cell[]) {
  const arms = armsOf(experiment);
  return pagedFlows(experiment).map((flow) => {
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
    return { flow, what, table: figuresTable([...NETWORK_COLUMNS, ...arms, "n an arm"], rows) };
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
  return figuresTable([...NETWORK_COLUMNS, ...heads], rows);
}

function regretTable({ regrets }: Evaluation, cells: readonly Cell[]): string {
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
  return figuresTable(heads, rows);
}

function meansText({ means }: Evaluation, cells: readonly Cell[]): string {
  return means
    .filter(({ congestion }) => cells.some((cell) => cell.congestion === congestion))
    .map(
      ({ flow, networks, ties, expected, upper95, raw }) =>
        `\`${flow}\`: ${Number.isNaN(expected) ? "" : `${percent(expected)}, at most ${percent(upper95)}; `}raw ${percent(raw)}, over ${networks} networks, ${ties} ties apart`,
    )
    .join(". ");
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
  return figuresTable([...NETWORK_COLUMNS, ...heads], rows);
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
  return figuresTable([...NETWORK_COLUMNS, ...of("TCP"), ...of("QUIC"), "edge CPU ms, h2", "h3"], rows);
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
