import { figuresTable } from "../analysis/tables/figures-table.ts";
import { percent, percentWithInterval, share, size } from "../analysis/tables/format.ts";
import type { CellRegret } from "../analysis/evaluation/evaluation.ts";

/** Of an evaluation's summary.json, what the table shows. */
export interface DecisionsSummary {
  readonly cells: readonly {
    readonly id: string;
    readonly congestion: string;
    readonly imageBytes: number;
    readonly network: { readonly name: string; readonly lossRatio: number; readonly delayMs: number };
  }[];
  readonly regrets: readonly CellRegret[];
}

/** What deciding costs in every network, a pair of columns for each congestion control: for the README. */
export function decisionsTable({ cells, regrets }: DecisionsSummary): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const networks = [...Map.groupBy(cells, ({ network }) => network.name).values()];
  const rows = networks.map((own) => [
    own[0] === undefined ? "" : nameOf(own[0]),
    ...congestions.flatMap((congestion) => {
      const cell = own.find((candidate) => candidate.congestion === congestion);
      const found = regrets.find((one) => one.cell === cell?.id && one.flow === "trained-on-either")?.regret;
      const cold = regrets.find((one) => one.cell === cell?.id && one.flow === "cold")?.regret;
      const firstVisit = cold === undefined ? "-" : percentWithInterval(cold.total);
      if (found === undefined) return ["-", "-", firstVisit];
      const better = found.tie ? "tie" : found.better === "stay" ? "HTTP/2" : "HTTP/3";
      const wrong = `${better}; wrong ${share(found.wrong)}`;
      return [wrong, `${percent(found.expected?.estimate)}, at most ${percent(found.expected?.upper95)}`, firstVisit];
    }),
  ]);
  return figuresTable(
    [
      "loss, RTT, object",
      ...congestions.flatMap((name) => [`${name}: better`, "regret, its bound", "a first visit of three pages"]),
    ],
    rows,
  );
}

function nameOf({ network, imageBytes }: DecisionsSummary["cells"][number]): string {
  return `${Number((network.lossRatio * 100).toFixed(2))} %, ${2 * network.delayMs} ms, ${size(imageBytes)}`;
}
