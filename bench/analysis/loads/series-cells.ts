import { ARM_SETUPS } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import { type LoadExperiment, loadsOf } from "../../model/load-experiment.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { seededRandom } from "../statistics/random.ts";
import { type Group, groupsOf } from "./groups.ts";
import { ratioOfLoads } from "./ratio.ts";
import { number } from "../tables/format.ts";

/** One place of a series, under one congestion control of the server's TCP. */
export type SeriesCell = Readonly<ReturnType<typeof seriesCells>[number]>;

/** The figures of every place of every series; a place that is in several of them is the same in each. */
export function seriesCells(experiment: LoadExperiment, rows: readonly LoadRow[], seed: number) {
  const groups = groupsOf(experiment, rows, seed);
  const byCell = new Map(experiment.cells.map((cell) => [cell.id, figuresOf(experiment, cell, groups, rows, seed)]));
  const congestions = [...new Set(experiment.cells.map(({ congestion }) => congestion))];
  return (experiment.series ?? []).flatMap(({ id, points }) =>
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
) {
  const loads = loadsOf(experiment, cell);
  // What begins on either protocol, by whatever arm: the first of each.
  const groupOf = (protocol: "h2" | "h3"): Group | undefined => {
    const load = loads.find(({ arm }) => ARM_SETUPS[arm].firstProtocol === protocol);
    return groups.find(({ cell: id, arm, flow }) => id === cell.id && arm === load?.arm && flow === load.flow);
  };
  const [h2, h3] = [groupOf("h2"), groupOf("h3")];
  return {
    /** Of a load: of all its files. */
    bytes: cell.imageBytes * (cell.images ?? 1),
    h2,
    h3,
    /** HTTP/2's mean over HTTP/3's, above 1 where HTTP/3 is faster; undefined where too few loads count. */
    ratio: ratioOfLoads(rows, h2, h3, seededRandom(seed, "series", cell.id)),
  };
}

/** Published figures of one place of a series. Times in milliseconds. */
export interface PublishedPoint {
  /** The series' label of the place. */
  readonly label: string;
  readonly h2Ms: number;
  readonly h3Ms: number;
}

export interface PublishedSeries {
  readonly source: string;
  /** The series of the experiment that it stands beside. */
  readonly series: string;
  /** Of the file: figures of another size do not stand beside these. */
  readonly bytes: number;
  readonly points: readonly PublishedPoint[];
  readonly findings: readonly string[];
}

/** What was published of a series, where its cells have files as large as that. */
export function publishedBeside(
  published: PublishedSeries,
  cells: readonly { readonly series: string; readonly bytes: number }[],
): PublishedSeries | undefined {
  const own = cells.filter(({ series }) => series === published.series);
  return own.every(({ bytes }) => bytes === published.bytes) ? published : undefined;
}

/** A group's mean time. Where too few loads count, the time of those that were left out for a busy core, if there are any. */
export function meanText(group: Group | undefined, isFew = (group?.n ?? 0) < 2): string {
  if (isFew && group?.busyMeanMs != null) return `busy: ${number(group.busyMeanMs)}`;
  return number(group?.meanMs.estimate);
}
