import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { judge } from "../../analysis/statistics/allocation.ts";
import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { type Polyline, zeroLine } from "../../analysis/statistics/zero-line.ts";
import { FEW, groupsOf, timesOf } from "../../analysis/loads/groups.ts";

/** One cell of the grid: HTTP/2's mean over HTTP/3's, and what the edge measured there. */
export type GridCell = ReturnType<typeof gridCells>[number];

const WINNERS = { a: "h2", b: "h3", tie: "tie", more: "tie" } as const;

export function gridCells(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number) {
  const groups = Map.groupBy(groupsOf(experiment, rows, seed), ({ cell }) => cell);
  const byCell = Map.groupBy(rows, ({ cell }) => cell);
  return experiment.cells.map(({ id, congestion, network: { rateMbps, delayMs, lossRatio } }) => {
    const own = byCell.get(id) ?? [];
    const [a, b] = [timesOf(own, id, "fixed-h2", "download"), timesOf(own, id, "fixed-h3", "download")];
    const h3 = groups.get(id)?.find(({ arm }) => arm === "fixed-h3");
    const n = Math.min(a.length, b.length);
    const { first, cap } = experiment.allocation;
    return {
      cell: id,
      congestion,
      rateMbps,
      delayMs,
      lossPercent: Number((lossRatio * 100).toFixed(6)),
      /** Loads an arm that count. */
      n,
      /** mean h2 / mean h3: above 1 HTTP/3 is faster. Undefined where too few loads count. */
      ratio: n < FEW ? undefined : ratioOfMeansInterval(a, b, { random: seededRandom(seed, "grid", id) }),
      /**
       * Which is faster, by the rule that decided how often to measure (analysis/statistics/allocation.ts): a plain interval
       * of data that were looked at several times would name winners too often.
       */
      winner:
        n < FEW
          ? undefined
          : WINNERS[judge({ a, b, min: Math.min(first, n), cap, random: seededRandom(seed, "winner", id) }).verdict],
      h2: groups.get(id)?.find(({ arm }) => arm === "fixed-h2"),
      h3,
      /** As the edge measured it over QUIC, which loses like TCP and tells each loss: the mean of all loads. */
      measuredRttMs: h3?.quic.rttMs ?? undefined,
      measuredLossPercent: h3?.quic.lossRatio == null ? undefined : h3.quic.lossRatio * 100,
    };
  });
}

/** Where a cell lies: x in ms, y in percent of loss. */
export type Coordinates = (cell: GridCell) => { readonly x: number | undefined; readonly y: number | undefined };

/** Where HTTP/2 and HTTP/3 take equally long at one rate. */
export function zeroLinesAt(cells: readonly GridCell[], coordinates: Coordinates): Polyline[] {
  const unique = (values: readonly number[]): number[] => [...new Set(values)].toSorted((a, b) => a - b);
  const losses = unique(cells.map(({ lossPercent }) => lossPercent));
  const delays = unique(cells.map(({ delayMs }) => delayMs));
  const lattice = losses.map((lossPercent) =>
    delays.map((delayMs) => {
      const cell = cells.find((one) => one.lossPercent === lossPercent && one.delayMs === delayMs);
      const { x, y } = cell === undefined ? {} : coordinates(cell);
      // On the log: twice as fast and half as fast are equally far from the line.
      const gain = cell?.ratio === undefined ? undefined : Math.log(cell.ratio.estimate);
      return { x: x ?? 0, y: y ?? 0, gain: x === undefined || y === undefined ? undefined : gain };
    }),
  );
  return zeroLine(lattice);
}
