import { COORDINATES, type TimesLattice } from "../../../policy-api/core/times.ts";
import { mean, median } from "../statistics/summary.ts";
import type { CalibrationCell, LogMean, Place } from "./cells.ts";
import { type Fitted, localRegression } from "./local-regression.ts";

/** The axes of a lattice. */
export type Axes = Pick<TimesLattice, "rttMs" | "lossRatio" | "deliveryRateBps" | "contentBytes">;

/** A place and a size: what times are fitted over. */
export interface Node extends Place {
  readonly contentBytes: number;
}

/** Fitted at a node, as logarithms. */
export type NodeTimes = ReturnType<typeof fitAt>;

interface Placed {
  readonly cell: CalibrationCell;
  readonly node: Node;
}

/**
 * One bandwidth in each coordinate (of core's COORDINATES): about the distance to the next value of our own grid, so that
 * a node sees its neighbours on either side. What cross-validation chooses multiplies all of them.
 */
const BANDWIDTHS = { rttMs: 1.3, lossRatio: 1.2, deliveryRateBps: 2, contentBytes: 2.6 } as const;
const MULTIPLIERS = [0.8, 1, 1.25, 1.6, 2] as const;
/** Five coefficients want at least twice as many neighbours. */
const NEIGHBOURS = 12;
/** Cells within the bandwidth from which on a node counts as supported. */
const SUPPORT_MIN = 3;

/** Of a normal's absolute value: medians, as one load with a retransmission timeout among eight says little of a fit. */
const NORMAL_MEDIAN = 0.6745;

export type Fit = NonNullable<ReturnType<typeof fitTimes>>;

/**
 * Fits the times of cells over where they lie; bandwidth and honest standard errors by leaving each cell out once. Undefined
 * with too few cells.
 */
export function fitTimes(cells: readonly CalibrationCell[], placeOf: (cell: CalibrationCell) => Place | undefined) {
  const placed = cells.flatMap((cell): Placed[] => {
    const place = placeOf(cell);
    return place === undefined ? [] : [{ cell, node: { ...place, contentBytes: cell.contentBytes } }];
  });
  if (placed.length <= NEIGHBOURS) return undefined;
  const validation = MULTIPLIERS.map((multiplier) => crossValidate(placed, multiplier)).reduce((best, one) =>
    one.rmsError < best.rmsError ? one : best,
  );
  const { multiplier, inflation } = validation;
  return {
    validation,
    /** Where the fitted cells lie. */
    nodes: placed.map(({ node }) => node),
    at: (node: Node) => fitAt(placed, node, multiplier, inflation),
  };
}

/** How well cells are predicted by the others: what is known of a fit's worth. */
function crossValidate(placed: readonly Placed[], multiplier: number) {
  const left = placed.map((one) => {
    const others = placed.filter((other) => other !== one);
    const { switchSaving, switchSe } = fitAt(others, one.node, multiplier, 1);
    const { y, variance } = ratio(one.cell.stay, one.cell.switch);
    return { error: switchSaving - y, variance, se: Math.sqrt(switchSe ** 2 + variance) };
  });
  return {
    cells: left.length,
    /** Root mean square of predicted minus measured ln(stay / switch), sampling noise included. */
    rmsError: Math.sqrt(mean(left.map(({ error }) => error ** 2))),
    /** The same expected from sampling alone. */
    rmsNoise: Math.sqrt(mean(left.map(({ variance }) => variance))),
    /** Standard errors are multiplied by it: those of the fit alone were too small by so much. */
    inflation: Math.max(1, median(left.map(({ error, se }) => Math.abs(error) / se)) / NORMAL_MEDIAN),
    multiplier,
  };
}

function fitAt(placed: readonly Placed[], node: Node, multiplier: number, inflation: number) {
  const fit = (value: (cell: CalibrationCell) => { y: number; variance: number }): Fitted =>
    localRegression(
      placed.map(({ cell, node: at }) => ({ x: scaled(at), ...value(cell) })),
      scaled(node),
      multiplier,
      NEIGHBOURS,
    );
  const stay = fit(({ stay: { log, variance } }) => ({ y: log, variance }));
  const switched = fit((cell) => ratio(cell.stay, cell.switch));
  const cold = fit((cell) => ratio(cell.stay, cell.cold));
  return {
    stay: stay.estimate,
    switchSaving: switched.estimate,
    coldSaving: cold.estimate,
    switchSe: switched.se * inflation,
    coldSe: cold.se * inflation,
    supported: switched.near >= SUPPORT_MIN,
  };
}

/** The logarithm of a ratio of means, with its variance: the arms' loads are independent. */
function ratio(stay: LogMean, other: LogMean): { y: number; variance: number } {
  return { y: stay.log - other.log, variance: stay.variance + other.variance };
}

function scaled(node: Node): number[] {
  return (["rttMs", "lossRatio", "deliveryRateBps", "contentBytes"] as const).map(
    (name) => COORDINATES[name](node[name]) / BANDWIDTHS[name],
  );
}

/** The times at every node of these axes. */
export function latticeOf(axes: Axes, at: (node: Node) => NodeTimes): TimesLattice {
  const nodes = axes.contentBytes.flatMap((contentBytes) =>
    axes.deliveryRateBps.flatMap((deliveryRateBps) =>
      axes.lossRatio.flatMap((lossRatio) =>
        axes.rttMs.map((rttMs) => at({ rttMs, lossRatio, deliveryRateBps, contentBytes })),
      ),
    ),
  );
  return {
    ...axes,
    stayMs: nodes.map(({ stay }) => digits(Math.exp(stay), 4)),
    switchMs: nodes.map(({ stay, switchSaving }) => digits(Math.exp(stay - switchSaving), 4)),
    coldMs: nodes.map(({ stay, coldSaving }) => digits(Math.exp(stay - coldSaving), 4)),
    switchSe: nodes.map(({ switchSe }) => digits(switchSe, 2)),
    coldSe: nodes.map(({ coldSe }) => digits(coldSe, 2)),
    supported: nodes.map(({ supported }) => (supported ? 1 : 0)),
  };
}

/** As many digits as a measurement has. */
export function digits(value: number, count: number): number {
  return Number(value.toPrecision(count));
}
