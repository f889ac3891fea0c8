import { ARM_SETUPS } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import { type LoadExperiment, loadsOf } from "../../model/load-experiment.ts";
import type { Series } from "../../model/series.ts";
import type { Congestion } from "../../model/congestion.ts";
import type { LoadRow } from "../../model/load-row.ts";
import type { Interval } from "../statistics/bootstrap.ts";
import { seededRandom } from "../statistics/random.ts";
import { type Group, groupsOf } from "./groups.ts";
import { ratioOfLoads } from "./ratio.ts";

/** One place of a series, under one congestion control of the server's TCP. */
export interface SeriesCell {
  readonly series: string;
  readonly label: string;
  readonly congestion: Congestion;
  readonly cell: string;
  /** Of a load: of all its files. */
  readonly bytes: number;
  readonly h2: Group | undefined;
  readonly h3: Group | undefined;
  /** HTTP/2's mean over HTTP/3's, above 1 where HTTP/3 is faster; undefined where too few loads count. */
  readonly ratio: Interval | undefined;
}

/** The figures of every place of every series; a place that is in several of them is the same in each. */
export function seriesCells(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number): SeriesCell[] {
  const groups = groupsOf(experiment, rows, seed);
  const byCell = new Map(experiment.cells.map((cell) => [cell.id, figuresOf(experiment, cell, groups, rows, seed)]));
  const congestions = [...new Set(experiment.cells.map(({ congestion }) => congestion))];
  return (experiment.series ?? []).flatMap(({ id, points }: Series) =>
    congestions.flatMap((congestion) =>
      points.map(({ label, network }) => {
        const cell = `${network}-${congestion}`;
        const figures = byCell.get(cell);
        if (figures === undefined) throw new Error(`The series ${id} has no cell ${cell}.`);
        return { series: id, label, congestion, cell, ...figures };
      }),
    ),
  );
}

function figuresOf(
  experiment: LoadExperiment,
  cell: Cell,
  groups: readonly Group[],
  rows: readonly LoadRow[],
  seed: number,
): Pick<SeriesCell, "bytes" | "h2" | "h3" | "ratio"> {
  const loads = loadsOf(experiment, cell);
  // What begins on either protocol, by whatever arm: the first of each.
  const [h2, h3] = (["h2", "h3"] as const).map((protocol) => {
    const load = loads.find(({ arm }) => ARM_SETUPS[arm].firstProtocol === protocol);
    return groups.find(({ cell: id, arm, flow }) => id === cell.id && arm === load?.arm && flow === load.flow);
  });
  return {
    bytes: cell.imageBytes * (cell.images ?? 1),
    h2,
    h3,
    ratio:
      h2 === undefined || h3 === undefined
        ? undefined
        : ratioOfLoads(rows, h2, h3, seededRandom(seed, "series", cell.id)),
  };
}
