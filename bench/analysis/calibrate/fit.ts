import { COORDINATES, type TimesLattice } from "../../../policy-api/core/times.ts";
import { median } from "../statistics/summary.ts";
import type { CalibrationCell, LogMean, Place } from "./cells.ts";
import { type Fitted, localRegression, type Observation } from "./local-regression.ts";

/** The axes of a lattice. */
export type Axes = Pick<TimesLattice, "rttMs" | "lossRatio" | "deliveryRateBps" | "contentBytes">;

/** A place and a size: what times are fitted over. */
export interface Node extends Place {
  readonly contentBytes: number;
}

/** Fitted at a node, as logarithms. */
export interface NodeTimes {
  readonly stay: number;
  readonly switchSaving: number;
  readonly coldSaving: number;
  readonly switchSe: number;
  readonly coldSe: number;
  readonly supported: boolean;
}

/** A cell in the coordinates that are fitted over. */
export interface Placed {
  readonly cell: CalibrationCell;
  readonly place: Place;
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

/** How well cells are predicted by the others: what is known of a fit's worth. */
export interface CrossValidation {
  readonly cells: number;
  /** Root mean square of predicted minus measured ln(stay / switch), sampling noise included. */
  readonly rmsError: number;
  /** The same expected from sampling alone. */
  readonly rmsNoise: number;
  /** Standard errors are multiplied by it: those of the fit alone were too small by so much. */
  readonly inflation: number;
  readonly multiplier: number;
}

export interface Fit {
  readonly validation: CrossValidation;
  readonly at: (node: Node) => NodeTimes | undefined;
}

/** Fits the times of placed cells; bandwidth and honest standard errors by leaving each cell out once. */
export function fitTimes(placed: readonly Placed[]): Fit | undefined {
  const tried = MULTIPLIERS.map((multiplier) => crossValidate(placed, multiplier)).filter((one) => one !== undefined);
  const best = tried.toSorted((a, b) => a.rmsError - b.rmsError)[0];
  if (best === undefined) return undefined;
  return { validation: best, at: (node) => fitAt(placed, node, best.multiplier, best.inflation) };
}

function crossValidate(placed: readonly Placed[], multiplier: number): CrossValidation | undefined {
  let squares = 0;
  let noise = 0;
  const standardised: number[] = [];
  for (const left of placed) {
    const { cell, place } = left;
    const others = placed.filter((one) => one !== left);
    const fitted = fitAt(others, { ...place, contentBytes: cell.contentBytes }, multiplier, 1);
    if (fitted === undefined) return undefined;
    const { y, variance } = ratio(cell.stay, cell.switch);
    squares += (fitted.switchSaving - y) ** 2;
    noise += variance;
    standardised.push(Math.abs(fitted.switchSaving - y) / Math.sqrt(fitted.switchSe ** 2 + variance));
  }
  const cells = standardised.length;
  if (cells === 0) return undefined;
  return {
    cells,
    rmsError: Math.sqrt(squares / cells),
    rmsNoise: Math.sqrt(noise / cells),
    inflation: Math.max(1, median(standardised) / NORMAL_MEDIAN),
    multiplier,
  };
}

function fitAt(placed: readonly Placed[], node: Node, multiplier: number, inflation: number): NodeTimes | undefined {
  const at = scaled(node, node.contentBytes);
  const fit = (value: (cell: CalibrationCell) => { y: number; variance: number }): Fitted | undefined =>
    localRegression(
      placed.map(({ cell, place }): Observation => ({ x: scaled(place, cell.contentBytes), ...value(cell) })),
      at,
      multiplier,
      NEIGHBOURS,
    );
  const stay = fit((cell) => ({ y: cell.stay.log, variance: cell.stay.variance }));
  const switched = fit((cell) => ratio(cell.stay, cell.switch));
  const cold = fit((cell) => ratio(cell.stay, cell.cold));
  if (stay === undefined || switched === undefined || cold === undefined) return undefined;
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

function scaled(place: Place, contentBytes: number): number[] {
  return [
    COORDINATES.rttMs(place.rttMs) / BANDWIDTHS.rttMs,
    COORDINATES.lossRatio(place.lossRatio) / BANDWIDTHS.lossRatio,
    COORDINATES.deliveryRateBps(place.deliveryRateBps) / BANDWIDTHS.deliveryRateBps,
    COORDINATES.contentBytes(contentBytes) / BANDWIDTHS.contentBytes,
  ];
}

/** The times at every node of these axes. Undefined where there are too few cells for a single one. */
export function latticeOf(axes: Axes, at: (node: Node) => NodeTimes | undefined): TimesLattice | undefined {
  const nodes: NodeTimes[] = [];
  for (const contentBytes of axes.contentBytes)
    for (const deliveryRateBps of axes.deliveryRateBps)
      for (const lossRatio of axes.lossRatio)
        for (const rttMs of axes.rttMs) {
          const times = at({ rttMs, lossRatio, deliveryRateBps, contentBytes });
          if (times === undefined) return undefined;
          nodes.push(times);
        }
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
