import type { Arm } from "../../model/arm.ts";
import { armsOf, type LoadExperiment } from "../../model/load-experiment.ts";
import type { Cell } from "../../model/cell.ts";
import { type Flow, imageBytesOf } from "../../model/flow.ts";
import { type Evaluation, lessOne } from "./evaluation.ts";
import type { Interval } from "../statistics/bootstrap.ts";
import { number, percent, percentWithInterval, share, size, withInterval } from "../tables/format.ts";
import { type Column, tableOf } from "../tables/table-of.ts";
import { FEW, type Group } from "../loads/groups.ts";
import { gain, OHASHI_NETWORKS, type PublishedNetwork, publishedRegret } from "./published.ts";

/** The tables of one congestion control, by their names in the template. */
export function evaluationTables(experiment: LoadExperiment, evaluation: Evaluation, congestion: string) {
  const cells = experiment.cells.filter((cell) => cell.congestion === congestion);
  const { gains, cuts } = evaluation;
  const regretOf = ({ id }: Cell) =>
    evaluation.regrets.find((one) => one.cell === id && one.flow === "trained")?.regret;
  const groupOf = ({ id }: Cell, arm: Arm) => find(evaluation.groups, id, arm, "trained");
  return {
    congestion,
    loads: pagedFlows(experiment).map((flow) => ({
      flow,
      what: flow === "trained" ? "page, switch if offered, image" : "first visit, three pages with an image each",
      table: networksTable(cells, flow, [
        ...armsOf(experiment).map((arm): Column<Cell> => [
          arm,
          ({ id }) => timeOf(find(evaluation.groups, id, arm, flow)),
        ]),
        ["n an arm", ({ id }) => ranOf(evaluation.groups.filter((group) => group.cell === id && group.flow === flow))],
      ]),
    })),
    // Gain and share are ratios: they may stand beside the published ones also where the image is smaller.
    published: networksTable(cells, "trained", [
      ["gain of HTTP/3, published", publishedPercent(({ h2Ms, h3Ms }) => gain(h2Ms, h3Ms))],
      ["measured", ({ id }) => comparable(gains.find(({ cell }) => cell === id)?.fixedH3)],
      ["measured, by the switch", ({ id }) => comparable(gains.find(({ cell }) => cell === id)?.alwaysOffer)],
      ["HTTP/3 share, published", publishedPercent(({ h3Share }) => h3Share)],
      ["measured", (cell) => share(groupOf(cell, "adaptive")?.http3)],
      ["regret to the free choice, published", publishedPercent(publishedRegret)],
      ["measured", (cell) => comparable(regretOf(cell)?.toFreeChoice)],
    ]),
    regret: regretTable(evaluation, cells),
    means: meansText(evaluation, congestion),
    cuts: networksTable(cells, "trained", [
      ["against HTTP/2 alone, published", publishedPercent(({ adaptiveMs, h2Ms }) => adaptiveMs / h2Ms - 1)],
      ["measured", ({ id }) => comparable(cuts.find(({ cell }) => cell === id)?.fixedH2)],
      ["against always offering, measured", ({ id }) => comparable(cuts.find(({ cell }) => cell === id)?.alwaysOffer)],
    ]),
    paths: networksTable(cells, "trained", [
      ...pathColumns("TCP", (cell) => groupOf(cell, "fixed-h2")?.tcp),
      ...pathColumns("QUIC", (cell) => groupOf(cell, "fixed-h3")?.quic),
      ["edge CPU ms, h2", (cell) => number(groupOf(cell, "fixed-h2")?.edgeCpuMs)],
      ["h3", (cell) => number(groupOf(cell, "fixed-h3")?.edgeCpuMs)],
    ]),
  };
}

/** The flows of whole pages that the experiment has. */
export function pagedFlows({ loads }: LoadExperiment): ("trained" | "cold")[] {
  return (["trained", "cold"] as const).filter((one) => loads.some(({ flow }) => flow === one));
}

/** A row for each network: what it is, and these columns. */
function networksTable(cells: readonly Cell[], flow: Flow, columns: readonly Column<Cell>[]): string {
  return tableOf(cells, [
    ["network", ({ network }) => network.name],
    ["Mbit/s", ({ network }) => String(network.rateMbps)],
    ["loss", ({ network }) => `${Number((network.lossRatio * 100).toFixed(2))} %`],
    ["delay ms", ({ network }) => String(network.delayMs)],
    ["image", ({ imageBytes }) => size(imageBytesOf(flow, imageBytes))],
    ...columns,
  ]);
}

function pathColumns(transport: string, pathOf: (cell: Cell) => Group["tcp"] | undefined): Column<Cell>[] {
  return [
    [`${transport} RTT ms`, (cell) => number(pathOf(cell)?.rttMs)],
    ["min RTT ms", (cell) => number(pathOf(cell)?.minRttMs)],
    ["loss", (cell) => percent(pathOf(cell)?.lossRatio)],
    ["lost packets a load", (cell) => number(pathOf(cell)?.packetsLost)],
    ["rate Mbit/s", (cell) => number(((pathOf(cell)?.deliveryRateBps ?? Number.NaN) * 8) / 1e6)],
  ];
}

function publishedPercent(figure: (published: PublishedNetwork) => number): (cell: Cell) => string {
  return ({ network: { name } }) => {
    const published = OHASHI_NETWORKS.find(({ network }) => network === name);
    return percent(published === undefined ? undefined : figure(published));
  };
}

function comparable(interval: Interval | null | undefined): string {
  return interval == null ? "not comparable" : percentWithInterval(interval);
}

function timeOf(group: Group | undefined): string {
  if (group === undefined) return "-";
  const busy = `busy: ${number(group.busyMeanMs)}`;
  if (group.n === 0) return busy;
  const time = `${withInterval(group.meanMs)}, median ${number(group.medianMs.estimate)}`;
  return group.n < FEW ? `${time} (n = ${group.n}; ${busy})` : time;
}

function ranOf(groups: readonly Group[]): string {
  const numbers = groups.map(({ n }) => n);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  if (numbers.length === 0) return "0";
  return least === most ? String(least) : `${least} to ${most}`;
}

function find(groups: readonly Group[], cell: string, arm: Arm, flow: Flow): Group | undefined {
  return groups.find((group) => group.cell === cell && group.arm === arm && group.flow === flow);
}

function regretTable({ regrets }: Evaluation, cells: readonly Cell[]): string {
  const own = regrets.filter(({ cell }) => cells.some(({ id }) => id === cell));
  return tableOf(own, [
    ["network", ({ network }) => network],
    ["flow", ({ flow }) => `\`${flow}\``],
    ["better", ({ regret: { tie, better } }) => (tie ? "tie" : better)],
    [
      "staying costs over switching",
      ({ regret: { stayToSwitch } }) => percentWithInterval({ ...stayToSwitch, ...lessOne(stayToSwitch) }),
    ],
    ["wrong choices", ({ regret: { wrong } }) => share(wrong)],
    ["regret of decisions", ({ regret: { decision } }) => percentWithInterval(decision)],
    ["regret", ({ regret: { expected } }) => percentWithInterval(expected)],
    ["its upper bound (95 %, one-sided)", ({ regret: { expected } }) => percent(expected?.upper95)],
    ["rest of the load time", ({ regret: { overhead } }) => percentWithInterval(overhead)],
    ["raw: adaptive mean / better mean - 1", ({ regret: { total } }) => percentWithInterval(total)],
    ["its upper bound", ({ regret: { total } }) => percent(total.upper95)],
  ]);
}

function meansText({ means }: Evaluation, congestion: string): string {
  return means
    .filter((one) => one.congestion === congestion)
    .map(
      ({ flow, networks, ties, expected, upper95, raw }) =>
        `\`${flow}\`: ${Number.isNaN(expected) ? "" : `${percent(expected)}, at most ${percent(upper95)}; `}raw ${percent(raw)}, over ${networks} networks, ${ties} ties apart`,
    )
    .join(". ");
}
