import { type Axis, distanceOutside, positionOn } from "./axis.ts";

/** A path as one transport measured it. Times are looked up by it. */
export interface PathFacts {
  /** The smallest RTT, milliseconds. */
  readonly rttMs: number;
  /** Lost over sent, 0 to 1, including losses by congestion. */
  readonly lossRatio: number;
  /** Bytes per second. */
  readonly deliveryRateBps: number;
}

/**
 * How long a session takes on one stack, over a regular lattice of RTT, loss and rate (as one transport measures them)
 * and of bytes. A session begins on HTTP/2 and stays there, begins there and switches to HTTP/3, or begins on HTTP/3
 * (cold).
 *
 * Axes increase. An axis with one value means that times are not known to depend on it. The lists have a figure for
 * each node. RTT runs fastest, then loss, rate and bytes: node (rtt, loss, rate, bytes) is at
 * ((bytes * rates + rate) * losses + loss) * rtts + rtt.
 */
export interface TimesLattice {
  readonly rttMs: readonly number[];
  /** 0 to 1. */
  readonly lossRatio: readonly number[];
  readonly deliveryRateBps: readonly number[];
  /** What a session transfers. */
  readonly contentBytes: readonly number[];
  readonly stayMs: readonly number[];
  readonly switchMs: readonly number[];
  readonly coldMs: readonly number[];
  /** Standard error of ln(stay / switch). Left out: the times count as exact. */
  readonly switchSe?: readonly number[] | undefined;
  /** Standard error of ln(stay / cold). */
  readonly coldSe?: readonly number[] | undefined;
  /** 1 if measurements surround the node, 0 if it was extrapolated. Left out: 1 for all. */
  readonly supported?: readonly number[] | undefined;
}

export interface PredictedTimes {
  readonly stayMs: number;
  readonly switchMs: number;
  readonly coldMs: number;
  /** What was transferred in these times. */
  readonly contentBytes: number;
  /**
   * Whether the path is outside the lattice, so that the nearest end of an axis was taken, or between extrapolated
   * nodes.
   */
  readonly clamped: boolean;
}

/** Expected times as logarithms, so that ratios are differences. */
export interface MeanLogTimes {
  readonly stay: number;
  /** ln(stay / switch): above 0 the switch saves. */
  readonly switchSaving: number;
  /** ln(stay / cold). */
  readonly coldSaving: number;
  readonly clamped: boolean;
}

/** Times at one point of the lattice, and how certain their ratios are. */
export interface LogTimes extends MeanLogTimes {
  readonly switchSe: number;
  readonly coldSe: number;
}

/** Added to a loss before its logarithm: a visit cannot measure less than one packet in a thousand. */
const LOSS_OFFSET = 0.001;
/** Added to an RTT before its logarithm: below a millisecond an RTT no longer measures the path. */
const RTT_OFFSET_MS = 1;
/**
 * How much less certain a prediction outside the axes is: the standard error of ln(stay / switch) for each factor of e
 * beyond them. Predicted savings of our own grid change by about that much over such a distance.
 */
const CLAMPED_SE = 0.2;

/** How far outside an axis, in its coordinate, still counts as on it: 5 %. */
const NEAR_ENOUGH = 0.05;

const rttCoordinate = (rttMs: number): number => Math.log(rttMs + RTT_OFFSET_MS);
const lossCoordinate = (lossRatio: number): number => Math.log(lossRatio + LOSS_OFFSET);

/** The coordinates of the axes, in which times are about linear. Calibration and interpolation use them. */
export const COORDINATES = {
  rttMs: rttCoordinate,
  lossRatio: lossCoordinate,
  deliveryRateBps: Math.log,
  contentBytes: Math.log,
} as const satisfies Record<string, (value: number) => number>;

/** A lattice after its first use: as logarithms. Those of one node are side by side, because they are read together. */
interface Compiled {
  readonly rtt: Axis;
  readonly loss: Axis;
  readonly rate: Axis;
  readonly bytes: Axis;
  /** FIGURES for each node. */
  readonly figures: Float64Array;
}

/** For each node, in this order: log stay, the two savings, their standard errors, support. */
const FIGURES = 6;

const compiledOf = new WeakMap<TimesLattice, Compiled>();

function compile(lattice: TimesLattice): Compiled {
  const { stayMs, switchMs, coldMs, switchSe, coldSe, supported } = lattice;
  // One node more: the neighbour of the last node is read too, with a weight of 0.
  const figures = new Float64Array((stayMs.length + 1) * FIGURES);
  stayMs.forEach((ms, node) => {
    const stay = Math.log(ms);
    const switchSaving = stay - Math.log(switchMs[node] ?? Number.NaN);
    const coldSaving = stay - Math.log(coldMs[node] ?? Number.NaN);
    const certainty = [switchSe?.[node] ?? 0, coldSe?.[node] ?? 0, supported?.[node] ?? 1];
    figures.set([stay, switchSaving, coldSaving, ...certainty], node * FIGURES);
  });
  let stride = FIGURES;
  const axis = (values: readonly number[], coordinate: (value: number) => number): Axis => {
    const made = { coordinates: Float64Array.from(values, coordinate), stride };
    stride *= values.length;
    return made;
  };
  return {
    rtt: axis(lattice.rttMs, COORDINATES.rttMs),
    loss: axis(lattice.lossRatio, COORDINATES.lossRatio),
    rate: axis(lattice.deliveryRateBps, COORDINATES.deliveryRateBps),
    bytes: axis(lattice.contentBytes, COORDINATES.contentBytes),
    figures,
  };
}

/** How far off the loss and the rate of a path may be. */
export interface PathUncertainty {
  readonly lossLow: number;
  readonly lossHigh: number;
  /** Standard error of ln(rate). */
  readonly rateSe: number;
}

/**
 * Log times on a path, log-linear between the nodes around it. Outside an axis its nearest end counts, with less
 * certainty. Reads sixteen nodes, whatever the size of the lattice. Broken numbers give NaN. Pure.
 */
export function logTimesAt(lattice: TimesLattice, path: PathFacts, contentBytes: number): LogTimes {
  return read(lattice, path, contentBytes, undefined, undefined);
}

/**
 * The same, with standard errors that also hold how much the savings change if loss or rate are at their bounds.
 *
 * @param switchRoundTrips What a switch costs on top of a cold session, instead of the measured switch.
 */
export function uncertainLogTimesAt(
  lattice: TimesLattice,
  path: PathFacts & PathUncertainty,
  contentBytes: number,
  switchRoundTrips: number | undefined,
): LogTimes {
  return read(lattice, path, contentBytes, path, switchRoundTrips);
}

/** Points that are read: the path itself, its loss at either bound, its rate at either bound. */
const POINTS = 5;

/**
 * One loop over all points and nodes, because a decision takes most of its time here. With a function for each point,
 * numbers were put on the heap at each call and return, and a decision took a fifth longer (bench/experiments/decide-cost).
 */
function read(
  lattice: TimesLattice,
  path: PathFacts,
  contentBytes: number,
  uncertainty: PathUncertainty | undefined,
  switchRoundTrips: number | undefined,
): LogTimes {
  let compiled = compiledOf.get(lattice);
  if (compiled === undefined) {
    compiled = compile(lattice);
    compiledOf.set(lattice, compiled);
  }
  const { figures, rtt, loss, rate, bytes } = compiled;
  const rttMs = rttCoordinate(path.rttMs);
  const lossRatio = lossCoordinate(path.lossRatio);
  const rateBps = Math.log(path.deliveryRateBps);
  const size = Math.log(contentBytes);
  const lossLow = uncertainty === undefined ? lossRatio : lossCoordinate(uncertainty.lossLow);
  const lossHigh = uncertainty === undefined ? lossRatio : lossCoordinate(uncertainty.lossHigh);
  const rateSe = uncertainty === undefined ? 0 : uncertainty.rateSe;
  const points = uncertainty === undefined ? 1 : POINTS;

  // All points are between the same RTTs and the same sizes: they share these four weights.
  const rttPosition = positionOn(rtt, rttMs);
  const bytesPosition = positionOn(bytes, size);
  const rttIndex = Math.floor(rttPosition);
  const bytesIndex = Math.floor(bytesPosition);
  const rttShare = rttPosition - rttIndex;
  const bytesShare = bytesPosition - bytesIndex;
  const a = (1 - rttShare) * (1 - bytesShare);
  const b = rttShare * (1 - bytesShare);
  const c = (1 - rttShare) * bytesShare;
  const d = rttShare * bytesShare;
  const face = rttIndex * rtt.stride + bytesIndex * bytes.stride;
  const toLarger = bytesShare === 0 ? 0 : bytes.stride;

  let stay = 0;
  let switchSaving = 0;
  let coldSaving = 0;
  let switchSe = 0;
  let coldSe = 0;
  let support = 0;
  let switchOffByLoss = 0;
  let coldOffByLoss = 0;
  let switchOffByRate = 0;
  let coldOffByRate = 0;
  for (let point = 0; point < points; point++) {
    const lossPosition = positionOn(loss, point === 1 ? lossLow : point === 2 ? lossHigh : lossRatio);
    const ratePosition = positionOn(rate, point === 3 ? rateBps - rateSe : point === 4 ? rateBps + rateSe : rateBps);
    const lossIndex = Math.floor(lossPosition);
    const rateIndex = Math.floor(ratePosition);
    const lossShare = lossPosition - lossIndex;
    const rateShare = ratePosition - rateIndex;
    const first = face + lossIndex * loss.stride + rateIndex * rate.stride;
    let stayHere = 0;
    let switchHere = 0;
    let coldHere = 0;
    for (let corner = 0; corner < 4; corner++) {
      const weight = (corner & 1 ? lossShare : 1 - lossShare) * (corner & 2 ? rateShare : 1 - rateShare);
      // There are no nodes beyond the end of an axis.
      if (weight === 0) continue;
      const near = first + (corner & 1 ? loss.stride : 0) + (corner & 2 ? rate.stride : 0);
      const far = near + toLarger;
      stayHere += weight * ofFour(figures, near, far, a, b, c, d);
      switchHere += weight * ofFour(figures, near + 1, far + 1, a, b, c, d);
      coldHere += weight * ofFour(figures, near + 2, far + 2, a, b, c, d);
      if (point > 0) continue;
      switchSe += weight * ofFour(figures, near + 3, far + 3, a, b, c, d);
      coldSe += weight * ofFour(figures, near + 4, far + 4, a, b, c, d);
      support += weight * ofFour(figures, near + 5, far + 5, a, b, c, d);
    }
    if (switchRoundTrips !== undefined)
      switchHere = stayHere - Math.log(Math.exp(stayHere - coldHere) + switchRoundTrips * path.rttMs);
    if (point === 0) {
      stay = stayHere;
      switchSaving = switchHere;
      coldSaving = coldHere;
    } else if (point <= 2) {
      switchOffByLoss = Math.max(switchOffByLoss, Math.abs(switchHere - switchSaving));
      coldOffByLoss = Math.max(coldOffByLoss, Math.abs(coldHere - coldSaving));
    } else {
      switchOffByRate = Math.max(switchOffByRate, Math.abs(switchHere - switchSaving));
      coldOffByRate = Math.max(coldOffByRate, Math.abs(coldHere - coldSaving));
    }
  }
  const outside =
    distanceOutside(rtt, rttMs) +
    distanceOutside(loss, lossRatio) +
    distanceOutside(rate, rateBps) +
    distanceOutside(bytes, size);
  // An extrapolated node is as far from a measurement as a point that is a factor of e beyond an axis.
  const beyond = (outside + Math.max(0, 1 - support)) * CLAMPED_SE;
  coldSe += beyond;
  switchSe = switchRoundTrips === undefined ? switchSe + beyond : coldSe;
  return {
    stay,
    switchSaving,
    coldSaving,
    switchSe: Math.sqrt(switchSe ** 2 + switchOffByLoss ** 2 + switchOffByRate ** 2),
    coldSe: Math.sqrt(coldSe ** 2 + coldOffByLoss ** 2 + coldOffByRate ** 2),
    clamped: outside > NEAR_ENOUGH || support < 0.5,
  };
}

/**
 * A figure between four nodes: two neighbours in RTT, at either size. A node that a broken lattice lacks gives NaN. To
 * check for it at each node took 5 % of a decision.
 */
function ofFour(figures: Float64Array, near: number, far: number, a: number, b: number, c: number, d: number): number {
  return (
    a * (figures[near] as number) +
    b * (figures[near + FIGURES] as number) +
    c * (figures[far] as number) +
    d * (figures[far + FIGURES] as number)
  );
}

/** Times from their logarithms. */
export function predictedTimes(log: MeanLogTimes, contentBytes: number): PredictedTimes {
  return {
    stayMs: Math.exp(log.stay),
    switchMs: Math.exp(log.stay - log.switchSaving),
    coldMs: Math.exp(log.stay - log.coldSaving),
    contentBytes,
    clamped: log.clamped,
  };
}
