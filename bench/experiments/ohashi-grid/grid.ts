import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { judge } from "../../analysis/statistics/allocation.ts";
import { type Interval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { type GainVertex, type Polyline, zeroLine } from "../../analysis/statistics/zero-line.ts";
import { FEW, type Group, groupsOf, timesOf } from "../../analysis/loads/groups.ts";

/** One cell of the grid: HTTP/2's mean over HTTP/3's, and what the edge measured there. */
export interface GridCell {
  readonly cell: string;
  readonly congestion: string;
  readonly rateMbps: number;
  readonly delayMs: number;
  readonly lossPercent: number;
  /** Loads an arm that count. */
  readonly n: number;
  /** mean h2 / mean h3: above 1 HTTP/3 is faster. Undefined where too few loads count. */
  readonly ratio: Interval | undefined;
  /**
   * Which is faster, by the rule that decided how often to measure (analysis/statistics/allocation.ts): a plain interval of data that were
   * looked at several times would name winners too often.
   */
  readonly winner: "h2" | "h3" | "tie" | undefined;
  readonly h2: Group | undefined;
  readonly h3: Group | undefined;
  /** As the edge measured it over QUIC, which loses like TCP and tells each loss: the mean of all loads. */
  readonly measuredRttMs: number | undefined;
  readonly measuredLossPercent: number | undefined;
}

export function gridCells(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number): GridCell[] {
  const groups = Map.groupBy(groupsOf(experiment, rows, seed), ({ cell }) => cell);
  const byCell = Map.groupBy(rows, ({ cell }) => cell);
  return experiment.cells.map((cell) => {
    const own = groups.get(cell.id) ?? [];
    return gridCell(experiment, cell, own, byCell.get(cell.id) ?? [], seed);
  });
}

function gridCell(
  experiment: LoadExperiment,
  cell: Cell,
  groups: readonly Group[],
  rows: readonly LoadRow[],
  seed: number,
): GridCell {
  const h2 = groups.find(({ arm }) => arm === "fixed-h2");
  const h3 = groups.find(({ arm }) => arm === "fixed-h3");
  const [h2Ms, h3Ms] = [timesOf(rows, cell.id, "fixed-h2", "download"), timesOf(rows, cell.id, "fixed-h3", "download")];
  const n = Math.min(h2Ms.length, h3Ms.length);
  const random = seededRandom(seed, "grid", cell.id);
  const ratio = n < FEW ? undefined : ratioOfMeansInterval(h2Ms, h3Ms, { random });
  const loss = h3?.quic.lossRatio;
  return {
    cell: cell.id,
    congestion: cell.congestion,
    rateMbps: cell.network.rateMbps,
    delayMs: cell.network.delayMs,
    lossPercent: Number((cell.network.lossRatio * 100).toFixed(6)),
    n,
    ratio,
    winner: ratio === undefined ? undefined : winnerOf(experiment, cell, h2Ms, h3Ms, seed),
    h2,
    h3,
    measuredRttMs: h3?.quic.rttMs ?? undefined,
    measuredLossPercent: loss == null ? undefined : loss * 100,
  };
}

function winnerOf(
  { allocation }: LoadExperiment,
  cell: Cell,
  h2Ms: readonly number[],
  h3Ms: readonly number[],
  seed: number,
): "h2" | "h3" | "tie" {
  const { first: min, cap } = allocation;
  const random = seededRandom(seed, "winner", cell.id);
  const { verdict } = judge({ a: h2Ms, b: h3Ms, min: Math.min(min, h2Ms.length, h3Ms.length), cap, random });
  return verdict === "a" ? "h2" : verdict === "b" ? "h3" : "tie";
}

/** Where HTTP/2 and HTTP/3 take equally long at one rate: over what was configured, or over what the edge measured. */
export function zeroLinesAt(cells: readonly GridCell[], coordinates: "configured" | "measured"): Polyline[] {
  const unique = (values: readonly number[]): number[] => [...new Set(values)].toSorted((a, b) => a - b);
  const losses = unique(cells.map(({ lossPercent }) => lossPercent));
  const delays = unique(cells.map(({ delayMs }) => delayMs));
  const lattice = losses.map((lossPercent) =>
    delays.map((delayMs): GainVertex => {
      const cell = cells.find((one) => one.lossPercent === lossPercent && one.delayMs === delayMs);
      // On the log: twice as fast and half as fast are equally far from the line.
      const gain = cell?.ratio === undefined ? undefined : Math.log(cell.ratio.estimate);
      if (coordinates === "configured") return { x: delayMs, y: lossPercent, gain };
      const { measuredRttMs: x, measuredLossPercent: y } = cell ?? {};
      return { x: x ?? 0, y: y ?? 0, gain: x === undefined || y === undefined ? undefined : gain };
    }),
  );
  return zeroLine(lattice);
}
