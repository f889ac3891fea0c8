import { ratioOfMeansInterval, type Interval } from "./bootstrap.ts";
import { halve, resampledMean } from "./halves.ts";
import { proportion, wilsonBound, type Proportion } from "./proportion.ts";
import { integer, normal, type Random } from "./random.ts";
import { halvedMeans, scoreRegret, type HalvedMeans, type RegretScore } from "./regret-score.ts";
import { mean, median, quantileOfSorted } from "./summary.ts";

/** Load times of one network, in milliseconds; every session of these begins on HTTP/2, but for `coldMs`. */
export interface RegretLoads {
  /** fixed-h2: the session stays. */
  readonly stayMs: readonly number[];
  /** always-offer: the session is offered HTTP/3 and switches. */
  readonly switchMs: readonly number[];
  readonly adaptive: readonly AdaptiveLoad[];
  /** fixed-h3, from the first packet: for the regret to the free choice. */
  readonly coldMs?: readonly number[];
  /** Time to the first byte, of `adaptive` and of the other arms that begin on HTTP/2. */
  readonly firstByteMs?: { readonly adaptive: readonly number[]; readonly others: readonly number[] } | undefined;
}

export interface AdaptiveLoad {
  readonly loadMs: number;
  /** Whether this load was offered HTTP/3 and switched. */
  readonly switched: boolean;
}

/** Estimate and 95 % interval, and the one-sided bound that 95 % of such bounds lie above the truth. All are ratios. */
export interface Bounded extends Interval {
  readonly upper95: number;
}

export interface Regret {
  /** By all loads, for the label only: the figures below choose on one half and score on the other. */
  readonly better: "stay" | "switch";
  /** Whether the interval of `stayToSwitch` holds 1, so that neither choice is known to be wrong: report it apart. */
  readonly tie: boolean;
  readonly stayToSwitch: Interval;
  /** Adaptive loads that did not do what is `better`. */
  readonly wrong: Proportion;
  /** P(wrong) x (worse mean / better mean - 1). */
  readonly decision: Bounded;
  /** (adaptive mean - mean of stay and switch mixed as adaptive did) / better mean. May be noise around 0. */
  readonly overhead: Bounded;
  /** decision + overhead, which is the adaptive mean / better mean - 1. */
  readonly total: Bounded;
  /**
   * decision + what deciding adds to the time of the first byte, over the better mean; undefined without `firstByteMs`.
   * Once the document of a session's only page is there, an adaptive session does what the arm of its choice does: the rest
   * of `overhead` is the draw of losses. The shift is of means of the middle half, and never below 0.
   */
  readonly expected: Bounded | undefined;
  /** Draws of `expected`, for bounds of means over networks; as many as resamples. */
  readonly expectedDraws: readonly number[] | undefined;
  /** Adaptive mean / better mean of stay and cold - 1; undefined without `coldMs`. */
  readonly toFreeChoice: Bounded | undefined;
  /** Adaptive median / lower median of stay and switch - 1: without halves, so it errs upwards near a tie. */
  readonly ofMedians: number;
}

/**
 * The mean of the middle half: packets lost in a handshake cost from two RTTs to a second, in either arm, and would drown a
 * millisecond. A median would not see a wait that under half of the loads have.
 */
function interquartileMean(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return mean(sorted.slice(Math.floor(sorted.length / 4), Math.ceil((3 * sorted.length) / 4)));
}

function resampled(values: readonly number[], random: Random): number[] {
  return values.map(() => values[integer(values.length, random)] ?? Number.NaN);
}

export interface RegretOptions {
  readonly random: Random;
  /** 2,000 by default. */
  readonly resamples?: number;
  /** Random halvings that the estimate is averaged over, each in both directions: 20 by default. */
  readonly splits?: number;
}

/**
 * The cost of decisions on one network, as design.md defines regret.
 *
 * Taking the smaller of two noisy means as the truth would count noise as regret: so the better choice is made on one
 * half of the loads and scored on the other, and may then cost less than nothing. Intervals: percentiles of a bootstrap
 * that halves first and resamples within the halves (halving a resample would put one load into both), with P(wrong)
 * drawn from its Wilson bounds, as resampling 0 wrong of 100 would always give 0.
 *
 * Undefined when an arm has under four loads: a half then has no spread.
 */
export function regret(
  loads: RegretLoads,
  { random, resamples = 2_000, splits = 20 }: RegretOptions,
): Regret | undefined {
  const { stayMs, switchMs, adaptive, coldMs } = loads;
  if ([stayMs, switchMs, adaptive, coldMs ?? stayMs].some(({ length }) => length < 4)) return undefined;
  const switched = adaptive.filter((load) => load.switched).length;
  const shareSwitched = switched / adaptive.length;
  const adaptiveMs = adaptive.map(({ loadMs }) => loadMs);
  const adaptiveMean = mean(adaptiveMs);

  const firstByte = loads.firstByteMs;
  const shiftOf = (pick: (values: readonly number[]) => readonly number[]): number =>
    firstByte === undefined
      ? Number.NaN
      : Math.max(0, interquartileMean(pick(firstByte.adaptive)) - interquartileMean(pick(firstByte.others)));
  const betterMean = Math.min(mean(stayMs), mean(switchMs));
  const halved = (average: (values: readonly number[]) => number): HalvedMeans =>
    halvedMeans(
      {
        stay: halve(stayMs, random),
        switch: halve(switchMs, random),
        cold: coldMs === undefined ? undefined : halve(coldMs, random),
      },
      average,
    );
  const estimatedShift = shiftOf((values) => values) / betterMean;
  const estimates = Array.from({ length: splits }, () => ({
    ...scoreRegret(halved(mean), { adaptiveMean, shareSwitched, shareForDecision: shareSwitched }),
    shift: estimatedShift,
  }));
  const drawn = Array.from({ length: resamples }, () => {
    let sum = 0;
    let count = 0;
    for (let draw = 0; draw < adaptive.length; draw++) {
      const load = adaptive[integer(adaptive.length, random)];
      sum += load?.loadMs ?? 0;
      if (load?.switched) count += 1;
    }
    const scored = scoreRegret(
      halved((values) => resampledMean(values, random)),
      {
        adaptiveMean: sum / adaptive.length,
        shareSwitched: count / adaptive.length,
        shareForDecision: wilsonBound(switched, adaptive.length, normal(random)),
      },
    );
    return { ...scored, shift: shiftOf((values) => resampled(values, random)) / betterMean };
  });
  const bounded = (figure: (scored: RegretScore & { readonly shift: number }) => number): Bounded => {
    const sorted = Float64Array.from(drawn, figure).sort();
    return {
      estimate: mean(estimates.map(figure)),
      low: quantileOfSorted(sorted, 0.025),
      high: quantileOfSorted(sorted, 0.975),
      upper95: quantileOfSorted(sorted, 0.95),
    };
  };

  const stayToSwitch = ratioOfMeansInterval(stayMs, switchMs, { random, resamples });
  const better = stayToSwitch.estimate <= 1 ? "stay" : "switch";
  return {
    better,
    tie: stayToSwitch.low <= 1 && stayToSwitch.high >= 1,
    stayToSwitch,
    wrong: proportion(better === "stay" ? switched : adaptive.length - switched, adaptive.length),
    decision: bounded(({ decision }) => decision),
    overhead: bounded(({ overhead }) => overhead),
    total: bounded(({ decision, overhead }) => decision + overhead),
    expected: firstByte === undefined ? undefined : bounded(({ decision, shift }) => decision + shift),
    expectedDraws: firstByte === undefined ? undefined : drawn.map(({ decision, shift }) => decision + shift),
    toFreeChoice: coldMs === undefined ? undefined : bounded(({ toFreeChoice }) => toFreeChoice),
    ofMedians: median(adaptiveMs) / Math.min(median(stayMs), median(switchMs)) - 1,
  };
}
