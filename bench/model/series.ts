import type { Congestion } from "./congestion.ts";
import { type Cell, type Network, QUEUE_BYTES } from "./cell.ts";

/** Places that differ in one thing: a table and a picture of a report. A place may be in several series. */
export interface Series {
  /** Of its picture's file. */
  readonly id: string;
  readonly title: string;
  /** A sentence or two: what differs, and what is asked. */
  readonly about: string;
  /** What the labels are, with its unit. */
  readonly axis: string;
  readonly points: readonly SeriesPoint[];
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

/** One cell for each congestion control. No loss, and a queue of netem's default limit, where nothing is said of them. */
export function cellsOf(
  places: readonly Place[],
  congestions: readonly Congestion[],
): { readonly cells: readonly Cell[]; readonly rounds: Readonly<Record<string, number>> } {
  const all = congestions.flatMap((congestion) =>
    places.map(({ network, rounds, ...place }) => ({
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
    cells: all.map(({ cell }) => cell),
    rounds: Object.fromEntries(all.map(({ cell, rounds }) => [cell.id, rounds])),
  };
}
