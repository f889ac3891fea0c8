import type { GainsMethod } from "./policy.ts";

/** What HTTP/3 gains on one stack: ln(HTTP/2's time / HTTP/3's), so that 0.1 is a page in 0.905 of the time. Axes increase. */
export type GainTable = GainsMethod["table"];
export type Gains = GainTable["next"];

/** Added to an RTT before its logarithm, milliseconds: below it an RTT no longer measures the path. */
const RTT_OFFSET_MS = 1;

/** The figures that a table has at each place. */
const FIGURES = ["next", "nextSe", "return", "returnSe"] as const;
const WIDTH = FIGURES.length;

/**
 * A table as decisions read it. Axes are in the coordinates that gains are linear in: the logarithms of RTTs and bytes, and losses as they
 * are. In the logarithm of losses, gains between no loss and 2 % are farther from what was measured, on each of six stacks
 * (bench/results/senders, "Losses in between").
 */
export interface GainGrid {
  readonly rtt: Float64Array;
  readonly loss: Float64Array;
  readonly bytes: Float64Array;
  /** By size, loss, RTT and figure. */
  readonly figures: Float64Array;
  readonly price: Float64Array;
}

/** Of one place, and how much it counts: the figures' squares are of gain and error together. */
interface Mean {
  next: number;
  nextSquare: number;
  again: number;
  againSquare: number;
}

/**
 * Gains at an RTT and size, the mean over losses by their weights, linear between the logarithms of RTTs and bytes; and the price there.
 * Outside the table the nearest end counts. Pure.
 *
 * @param weights Of the table's losses, adding up to 1.
 */
export function gainsAt(
  { rtt, bytes, loss, figures, price }: GainGrid,
  rttMs: number,
  contentBytes: number,
  weights: ArrayLike<number>,
): Mean & { readonly price: number } {
  const [rttIndex, far] = placeOn(rtt, rttCoordinate(rttMs));
  const [bytesIndex, large] = placeOn(bytes, Math.log(contentBytes));
  const mean = { next: 0, nextSquare: 0, again: 0, againSquare: 0, price: 0 };
  // The four places around, and the share of each. At an end of an axis the place beyond counts nothing.
  const toRtt = far === 0 ? 0 : WIDTH;
  const toBytes = large === 0 ? 0 : loss.length * rtt.length * WIDTH;
  for (let node = 0; node < loss.length; node++) {
    const weight = weights[node] as number;
    if (weight === 0) continue;
    const place = ((bytesIndex * loss.length + node) * rtt.length + rttIndex) * WIDTH;
    const at = (figure: number): number => {
      const from = place + figure;
      return (
        (1 - large) * ((1 - far) * (figures[from] as number) + far * (figures[from + toRtt] as number)) +
        large * ((1 - far) * (figures[from + toBytes] as number) + far * (figures[from + toBytes + toRtt] as number))
      );
    };
    const [next, nextSe, again, againSe] = [at(0), at(1), at(2), at(3)];
    mean.next += weight * next;
    mean.nextSquare += weight * (next * next + nextSe * nextSe);
    mean.again += weight * again;
    mean.againSquare += weight * (again * again + againSe * againSe);
  }
  const beyond = Math.min(rttIndex + 1, price.length - 1);
  mean.price = (1 - far) * (price[rttIndex] as number) + far * (price[beyond] as number);
  return mean;
}

/** A client with so many packets counts half by its own loss, and half by the mix. */
const OWN_HALF_PACKETS = 500;

/** How much each of a table's losses counts for a client: its own loss, by how many packets say it, and else the mix. Adds up to 1. Pure. */
export function lossWeights(
  { loss }: Pick<GainGrid, "loss">,
  mix: Float64Array,
  { sent, lost }: { readonly sent: number; readonly lost: number },
): Float64Array {
  if (!(sent > 0) || loss.length === 1) return mix;
  const own = sent / (sent + OWN_HALF_PACKETS);
  const weights = mix.map((share) => (1 - own) * share);
  const [index, share] = placeOn(loss, lost / sent);
  weights[index] = (weights[index] as number) + own * (1 - share);
  if (share > 0) weights[index + 1] = (weights[index + 1] as number) + own * share;
  return weights;
}

/** It takes as long as many decisions: make it once for a policy. Pure. */
export function gridOf({ rttMs, lossRatio, contentBytes, next, return: again, price }: GainTable): GainGrid {
  const lists = [next.gain, next.se, again.gain, again.se];
  const figures = contentBytes.flatMap((_, size) =>
    lossRatio.flatMap((_loss, loss) =>
      rttMs.flatMap((_rtt, rtt) => lists.map((list) => list[size]?.[loss]?.[rtt] ?? Number.NaN)),
    ),
  );
  return {
    rtt: Float64Array.from(rttMs, rttCoordinate),
    loss: Float64Array.from(lossRatio),
    bytes: Float64Array.from(contentBytes, Math.log),
    figures: Float64Array.from(figures),
    price: Float64Array.from(price),
  };
}

/** Between RTTs, gains are linear in this. */
export function rttCoordinate(rttMs: number): number {
  return Math.log(rttMs + RTT_OFFSET_MS);
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
    ...(lossRatio === undefined ? {} : { loss: nearest(table.lossRatio, lossRatio) }),
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
