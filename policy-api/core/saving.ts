import type { KnownPath } from "./path.ts";
import type { ColdStart, TimesMethod } from "./policy.ts";
import { type LogTimes, type MeanLogTimes, predictedTimes, type PredictedTimes, uncertainLogTimesAt } from "./times.ts";

/** A predicted saving of HTTP/3 as ln(stay / other), and the half-width of its uncertainty. */
export interface Saving {
  readonly log: number;
  readonly halfWidth: number;
}

/** What times predict for one path. */
export interface Prediction {
  /** Of the switch, for a session on HTTP/2. */
  readonly switch: Saving;
  /** Of a session that begins on HTTP/3. */
  readonly cold: Saving;
  readonly times: PredictedTimes;
}

/** The same before its times are told, half-widths of one standard error. */
interface LogPrediction extends Omit<Prediction, "times"> {
  readonly log: MeanLogTimes;
}

/**
 * Predicts from what each transport measured, each in its own coordinates and lattice, weighted by certainty. The
 * half-width holds the fit's standard error and what the path's loss and rate may be off by.
 *
 * @param standardErrors How many of them the half-width holds.
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
    // Of broken figures nothing can be predicted: the other transport's stand alone.
    if (Number.isNaN(log.stay)) continue;
    const one = logPrediction(log);
    all = all === undefined ? one : combine(all, one);
  }
  return all === undefined ? undefined : withTimes(all, contentBytes, standardErrors);
}

/** Predicts for a client of whom only the RTT is known, from the mean over the networks that the cold start names. */
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

/** Only after transports were weighed: how cautious a policy is must not change which of them is the more certain. */
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
    // Times by the weights of the switch's saving, as geometric means.
    log: {
      stay: share * a.log.stay + (1 - share) * b.log.stay,
      switchSaving: share * a.log.switchSaving + (1 - share) * b.log.switchSaving,
      coldSaving: share * a.log.coldSaving + (1 - share) * b.log.coldSaving,
      clamped: share >= 0.5 ? a.log.clamped : b.log.clamped,
    },
  };
}

/**
 * Weighs two predictions of the same saving by their precision. Both come from one fit and one path: their errors are
 * not independent, so that the sum is taken to be as certain as the more certain of them; and where they contradict each
 * other, no more certain than they are apart.
 */
function combineSavings(a: Saving, b: Saving): readonly [saving: Saving, shareOfA: number] {
  // Of two certain ones each counts for half; what is infinitely uncertain counts for nothing.
  const certainty = (saving: Saving): number => 1 / Math.max(saving.halfWidth, 1e-6) ** 2;
  const share = certainty(a) / (certainty(a) + certainty(b));
  const halfWidth = Math.max(Math.min(a.halfWidth, b.halfWidth), Math.abs(a.log - b.log) * Math.min(share, 1 - share));
  return [{ log: share * a.log + (1 - share) * b.log, halfWidth }, share];
}
