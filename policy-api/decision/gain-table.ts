import { LOSS_NODES, NODES, zeros } from "./loss-nodes.ts";
import type { GainsMethod } from "./policy.ts";

/** What HTTP/3 gains on one stack: ln(HTTP/2's time / HTTP/3's), so that 0.1 is a page in 0.905 of the time. Axes increase. */
export type GainTable = GainsMethod["table"];
export type Gains = GainTable["next"];

/** Added to an RTT before its logarithm, milliseconds: below it an RTT no longer measures the path. */
const RTT_OFFSET_MS = 1;
/** Added to a loss before its logarithm: a page cannot tell less than one packet in two thousand. */
const LOSS_OFFSET = 0.0005;

/**
 * A page of ten times the largest size. Without loss HTTP/3 saves it no more time than a smaller one, so less of it: 0.08 to
 * 0.33 of the logarithm (latency-sweep and bandwidth-limits, 10 MB beside 1 MB). With loss it meets more of it: chosen on
 * the given mix of `population`, where the square root of ten did a little better than one and ten.
 */
const LARGER = { size: 10, cleanGain: 0.1, loss: Math.sqrt(10) } as const;

/** Where the figures at each loss node begin. */
export const FIGURES = { next: 0, nextSe: NODES, return: 2 * NODES, returnSe: 3 * NODES } as const;
const WIDTH = 4 * NODES;
const ALL_ZEROS: readonly number[] = [zeros(), zeros(), zeros(), zeros()].flat();

/** A table as decisions read it: at every RTT and size of its own, the figures at each loss node. */
export interface GainGrid {
  readonly rtt: Float64Array;
  readonly bytes: Float64Array;
  /** By size, RTT, figure and node. */
  readonly figures: Float64Array;
  readonly price: Float64Array;
}

/**
 * Gains at an RTT and size, linear between the logarithms of the table's, and the price there: for each loss node a figure, from the place
 * in FIGURES on. Outside the table's RTTs and below its sizes the nearest end counts; above its sizes what LARGER says, up to there. Pure.
 */
export function figuresAt(
  { rtt, bytes, figures, price }: GainGrid,
  rttMs: number,
  contentBytes: number,
): readonly [at: readonly number[], price: number] {
  const [rttIndex, far] = placeOn(rtt, rttCoordinate(rttMs));
  const [bytesIndex, large] = placeOn(bytes, Math.log(contentBytes));
  const [near, small] = [1 - far, 1 - large];
  // The four places around, and the share of each. At an end of an axis the place beyond counts nothing.
  const place = (bytesIndex * rtt.length + rttIndex) * WIDTH;
  const toRtt = far === 0 ? 0 : WIDTH;
  const toBytes = large === 0 ? 0 : rtt.length * WIDTH;
  const at = ALL_ZEROS.slice();
  for (let i = 0; i < WIDTH; i++) {
    const from = place + i;
    at[i] =
      small * (near * (figures[from] as number) + far * (figures[from + toRtt] as number)) +
      large * (near * (figures[from + toBytes] as number) + far * (figures[from + toBytes + toRtt] as number));
  }
  const beyond = Math.min(rttIndex + 1, price.length - 1);
  return [at, near * (price[rttIndex] as number) + far * (price[beyond] as number)];
}

/** A loss that a mix has nobody for is rare, not impossible: without this no packets could ever show it. */
const RARE = 0.002;

/** Spreads weights over a table's losses onto the loss nodes, each to its two neighbours. Adds up to 1. Pure. */
export function overNodes(lossRatio: readonly number[], weights: readonly number[]): number[] {
  const nodes = Float64Array.from(LOSS_NODES, lossCoordinate);
  const spread = zeros();
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  for (const [i, weight] of weights.entries()) {
    const [index, share] = placeOn(nodes, lossCoordinate(lossRatio[i] ?? 0));
    spread[index] = (spread[index] ?? 0) + ((1 - share) * weight) / total;
    if (share > 0) spread[index + 1] = (spread[index + 1] ?? 0) + (share * weight) / total;
  }
  const sum = spread.reduce((a, weight) => a + Math.max(weight, RARE), 0);
  return spread.map((weight) => Math.max(weight, RARE) / sum);
}

/** It takes as long as many decisions: make it once for a policy. Pure. */
export function gridOf({ rttMs, lossRatio, contentBytes, next, return: again, price }: GainTable): GainGrid {
  const losses = Float64Array.from(lossRatio, lossCoordinate);
  const lists = [next.gain, next.se, again.gain, again.se];
  const figures: number[] = [];
  const push = (size: number, lossTimes: number, cleanGain: number): void => {
    const places = LOSS_NODES.map((loss) => placeOn(losses, lossCoordinate(loss * lossTimes)));
    for (const rtt of rttMs.keys())
      for (const list of lists)
        for (const [node, [index, share]] of places.entries()) {
          const at = (loss: number): number => list[size]?.[loss]?.[rtt] ?? Number.NaN;
          const there = share === 0 ? at(index) : at(index) * (1 - share) + at(index + 1) * share;
          figures.push(LOSS_NODES[node] === 0 ? there * cleanGain : there);
        }
  };
  for (const size of contentBytes.keys()) push(size, 1, 1);
  push(contentBytes.length - 1, LARGER.loss, LARGER.cleanGain);
  return {
    rtt: Float64Array.from(rttMs, rttCoordinate),
    bytes: Float64Array.from([...contentBytes, LARGER.size * (contentBytes.at(-1) ?? Number.NaN)], Math.log),
    figures: Float64Array.from(figures),
    price: Float64Array.from(price),
  };
}

/** Between RTTs, gains are linear in this. */
export function rttCoordinate(rttMs: number): number {
  return Math.log(rttMs + RTT_OFFSET_MS);
}

/** Between losses, gains are linear in this. */
export function lossCoordinate(loss: number): number {
  return Math.log(loss + LOSS_OFFSET);
}

/** A place of a table: indices of its axes. */
export interface TablePlace {
  readonly rtt: number;
  readonly size: number;
  /** Absent where nobody counted packets of this client. */
  readonly loss?: number | undefined;
}

/** The place of a table that is nearest to a path and a page, in the coordinates that gains are linear in. Pure. */
export function nearestPlace(
  table: Pick<GainTable, "rttMs" | "contentBytes" | "lossRatio">,
  path: { readonly rttMs: number; readonly contentBytes: number; readonly lossRatio?: number | undefined },
): TablePlace {
  const { rttMs, contentBytes, lossRatio } = path;
  return {
    rtt: nearest(table.rttMs.map(rttCoordinate), rttCoordinate(rttMs)),
    size: nearest(table.contentBytes.map(Math.log), Math.log(contentBytes)),
    ...(lossRatio === undefined
      ? {}
      : { loss: nearest(table.lossRatio.map(lossCoordinate), lossCoordinate(lossRatio)) }),
  };
}

function nearest(axis: readonly number[], coordinate: number): number {
  const [index, share] = placeOn(axis, coordinate);
  return share < 0.5 ? index : index + 1;
}

/** The node at or below a coordinate, and how far it is to the next one, 0 to 1. Outside the axis: its end. */
export function placeOn(axis: ArrayLike<number>, coordinate: number): readonly [index: number, share: number] {
  const last = axis.length - 1;
  if (!(coordinate > (axis[0] as number))) return [0, 0];
  if (coordinate >= (axis[last] as number)) return [last, 0];
  let index = 0;
  while ((axis[index + 1] as number) <= coordinate) index++;
  const from = axis[index] as number;
  return [index, (coordinate - from) / ((axis[index + 1] as number) - from)];
}
