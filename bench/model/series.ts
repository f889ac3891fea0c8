import type { Congestion } from "./congestion.ts";
import { type Cell, type Network, QUEUE_BYTES } from "./cell.ts";

/** Places that differ in one thing: a table and a picture of a report. A place may be in several series. */
export interface Series<Point = SeriesPoint> {
  /** Of its picture's file, and of its part of the report. */
  readonly id: string;
  readonly title: string;
  /** What the labels are, with its unit. */
  readonly axis: string;
  readonly points: readonly Point[];
}

export interface SeriesPoint {
  readonly label: string;
  /** The network's name: one cell for each congestion control. */
  readonly network: string;
}

/** A place: its network, which has a name of its own, and what is loaded there. */
export interface Place extends Pick<Cell, "imageBytes" | "images" | "loads" | "tcp" | "udpReceiveBufferBytes"> {
  readonly network: Partial<Network> & Pick<Network, "name" | "rateMbps" | "delayMs">;
  readonly rounds: number;
}

/** A series as an experiment writes it: each label with its place. Places with the same name are the same place. */
export type PlacedSeries = Series<readonly [label: string | number, place: Place]>;

/** A point for each value, labelled with it. */
export function over(values: readonly number[], placeOf: (value: number) => Place): PlacedSeries["points"] {
  return values.map((value) => [value, placeOf(value)]);
}

/** The most places of a series in a quick run; of the others there is one. */
const QUICK_POINTS = 2;

/**
 * The cells of all series, one for each place and congestion control. No loss, and a queue of netem's default limit, where
 * nothing is said of them.
 *
 * @param others places that are in no series
 */
export function planSeries(
  all: readonly PlacedSeries[],
  others: readonly Place[],
  congestions: readonly Congestion[],
  isQuick: boolean,
) {
  const most = isQuick ? QUICK_POINTS : Number.POSITIVE_INFINITY;
  const shown = all.map((one) => ({ ...one, points: one.points.slice(0, most) }));
  const inSeries = shown.flatMap(({ points }) => points.map(([, place]) => place));
  const measured = [...inSeries, ...others.slice(0, isQuick ? 1 : most)];
  const places = new Map(measured.map((place) => [place.network.name, place]));
  const planned = congestions.flatMap((congestion) =>
    [...places.values()].map(({ network, rounds, ...place }) => ({
      cell: {
        id: `${network.name}-${congestion}`,
        network: { lossRatio: 0, queueBytes: QUEUE_BYTES, ...network },
        congestion,
        ...place,
      },
      rounds,
    })),
  );
  return {
    cells: planned.map(({ cell }) => cell),
    rounds: Object.fromEntries(planned.map(({ cell, rounds }) => [cell.id, rounds])),
    series: shown.map(({ points, ...one }) => ({
      ...one,
      points: points.map(([label, { network }]) => ({ label: String(label), network: network.name })),
    })),
  };
}
