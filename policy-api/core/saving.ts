import type { KnownPath } from "./path.ts";
import type { ColdStart, TimesMethod } from "./policy.ts";
import { type LogTimes, type MeanLogTimes, predictedTimes, type PredictedTimes, uncertainLogTimesAt } from "./times.ts";

/** A predicted saving of HTTP/3 as ln(stay / other), and the half-width of its uncertainty. */
export interface Saving {
  readonly log: number;
  readonly halfWidth: number;
}

/** What a policy's times predict for one path. */
export interface Prediction {
  /** Of the switch, for a session on HTTP/2. */
  readonly switch: Saving;
  /** Of a session that begins on HTTP/3. */
  readonly cold: Saving;
  readonly times: PredictedTimes;
}

/** The same with times as logarithms, and half-widths of one standard error. */
interface LogPrediction extends Omit<Prediction, "times"> {
  readonly log: MeanLogTimes;
}

/**
 * Predicts from what each transport measured, each with its own lattice, and weights the two by certainty. The
 * half-width holds the standard error of the fit, and how far off the path's loss and rate may be.
 *
 * @param standardErrors How many standard errors the half-width is.
 */
export function predict(
  method: TimesMethod,
  known: KnownPath,
  contentBytes: number,
  standardErrors: number,
): Prediction | undefined {
  let all: LogPrediction | undefined;
  for (const path of known.paths) {
    const lattice = (path.transport === "tcp" ? method.tcp : method.quic) ?? method.tcp ?? method.quic;
    if (lattice === undefined) continue;
    const log = uncertainLogTimesAt(lattice, path, contentBytes, method.switchRoundTrips);
    // Nothing can be predicted from broken figures: then only the other transport counts.
    if (Number.isNaN(log.stay)) continue;
    const one = logPrediction(log);
    all = all === undefined ? one : combine(all, one);
  }
  return all === undefined ? undefined : withTimes(all, contentBytes, standardErrors);
}

/** Predicts for a client of which only the RTT is known, from the mean over the cold start's mix of networks. */
export function predictCold(
  { times }: ColdStart,
  method: TimesMethod,
  rttMs: number,
  contentBytes: number,
  standardErrors: number,
): Prediction | undefined {
  if (times === undefined) return undefined;
  const lossRatio = times.lossRatio[0] ?? 0;
  const path = { rttMs, lossRatio, deliveryRateBps: times.deliveryRateBps[0] ?? 1 };
  const certain = { lossLow: lossRatio, lossHigh: lossRatio, rateSe: 0 };
  const log = uncertainLogTimesAt(times, { ...path, ...certain }, contentBytes, method.switchRoundTrips);
  return withTimes(logPrediction(log), contentBytes, standardErrors);
}

function logPrediction(log: LogTimes): LogPrediction {
  return {
    switch: { log: log.switchSaving, halfWidth: log.switchSe },
    cold: { log: log.coldSaving, halfWidth: log.coldSe },
    log,
  };
}

/** After the transports were weighted: a policy's caution must not change which of them is more certain. */
function withTimes(prediction: LogPrediction, contentBytes: number, standardErrors: number): Prediction {
  return {
    switch: { log: prediction.switch.log, halfWidth: standardErrors * prediction.switch.halfWidth },
    cold: { log: prediction.cold.log, halfWidth: standardErrors * prediction.cold.halfWidth },
    times: predictedTimes(prediction.log, contentBytes),
  };
}

function combine(a: LogPrediction, b: LogPrediction): LogPrediction {
  const [switchSaving, share] = combineSavings(a.switch, b.switch);
  const [cold] = combineSavings(a.cold, b.cold);
  return {
    switch: switchSaving,
    cold,
    // Geometric means of the times, with the weights of the switch's saving.
    log: {
      stay: share * a.log.stay + (1 - share) * b.log.stay,
      switchSaving: share * a.log.switchSaving + (1 - share) * b.log.switchSaving,
      coldSaving: share * a.log.coldSaving + (1 - share) * b.log.coldSaving,
      clamped: share >= 0.5 ? a.log.clamped : b.log.clamped,
    },
  };
}

/**
 * Weights two predictions of the same saving by their precision. Both come from one fit and one path, so their errors
 * are not independent: the result is only as certain as the more certain of them. Where they contradict each other, the
 * uncertainty grows with the difference.
 */
function combineSavings(a: Saving, b: Saving): readonly [saving: Saving, shareOfA: number] {
  // Two certain predictions count for half each. An infinitely uncertain one does not count.
  const certainty = (saving: Saving): number => 1 / Math.max(saving.halfWidth, 1e-6) ** 2;
  const share = certainty(a) / (certainty(a) + certainty(b));
  const halfWidth = Math.max(Math.min(a.halfWidth, b.halfWidth), Math.abs(a.log - b.log) * Math.min(share, 1 - share));
  return [{ log: share * a.log + (1 - share) * b.log, halfWidth }, share];
}
