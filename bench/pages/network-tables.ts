import { OHASHI_NETWORKS } from "../analysis/evaluation/published.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { number, percent, percentWithInterval, share, size, withInterval } from "../analysis/tables/format.ts";
import { type Column, tableOf } from "../analysis/tables/table-of.ts";
import type { Cell } from "../model/cell.ts";
import type { RecordedEvaluation } from "./recorded.ts";

const PATH: Column<Cell> = [
  "loss, RTT, object",
  ({ network: { lossRatio, delayMs }, imageBytes }) =>
    `${Number((lossRatio * 100).toFixed(2))} %, ${2 * delayMs} ms, ${size(imageBytes)}`,
];

const PUBLISHED_RATIO: Column<Cell> = [
  "published: h2 / h3",
  ({ network: { name } }) => {
    const published = OHASHI_NETWORKS.find(({ network }) => network === name);
    return number((published?.h2Ms ?? Number.NaN) / (published?.h3Ms ?? Number.NaN));
  },
];

/** HTTP/2's load time over HTTP/3's in every network, beside the published or not: a column for each congestion control. */
export function winnersTable({ cells, gains }: RecordedEvaluation, isBesidePublished: boolean): string {
  return networksTable(cells, isBesidePublished ? [PATH, PUBLISHED_RATIO] : [PATH], (name) => [
    [`TCP with ${name}`, ({ id }) => withInterval(plusOne(gains.find(({ cell }) => cell === id)?.fixedH3))],
  ]);
}

/** What deciding costs in every network, three columns for each congestion control. */
export function decisionsTable({ cells, regrets }: RecordedEvaluation): string {
  const at = ({ id }: Cell, flow: string) => regrets.find((one) => one.cell === id && one.flow === flow)?.regret;
  return networksTable(cells, [PATH], (name) => [
    [
      `${name}: better`,
      (cell) => {
        const found = at(cell, "trained-on-either");
        if (found === undefined) return "-";
        const better = found.tie ? "tie" : found.better === "stay" ? "HTTP/2" : "HTTP/3";
        return `${better}; wrong ${share(found.wrong)}`;
      },
    ],
    [
      "regret, its bound",
      (cell) => {
        const expected = at(cell, "trained-on-either")?.expected;
        return `${percent(expected?.estimate)}, at most ${percent(expected?.upper95)}`;
      },
    ],
    ["a first visit of three pages", (cell) => percentWithInterval(at(cell, "cold")?.total)],
  ]);
}

/** A row for each network: some columns of it, and some for each congestion control. */
function networksTable(
  cells: readonly Cell[],
  own: readonly Column<Cell>[],
  each: (congestion: string) => readonly Column<Cell>[],
): string {
  const ofFirst = (isOf: (cell: Cell) => boolean, columns: readonly Column<Cell>[]): Column<readonly Cell[]>[] =>
    columns.map(([title, text]) => [
      title,
      (network) => {
        const cell = network.find(isOf);
        return cell === undefined ? "-" : text(cell);
      },
    ]);
  return tableOf(
    [...Map.groupBy(cells, ({ network }) => network.name).values()],
    [
      ...ofFirst(() => true, own),
      ...[...new Set(cells.map(({ congestion }) => congestion))].flatMap((name) =>
        ofFirst(({ congestion }) => congestion === name, each(name)),
      ),
    ],
  );
}

/** A gain as the ratio that it is of. */
export function plusOne(gain: Interval | null | undefined): Interval | undefined {
  return gain == null ? undefined : { estimate: 1 + gain.estimate, low: 1 + gain.low, high: 1 + gain.high };
}
