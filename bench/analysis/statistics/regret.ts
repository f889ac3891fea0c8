import { percentileInterval, ratioOfMeansInterval } from "./bootstrap.ts";
import { halve, normal, type Random, resampled } from "./random.ts";
import { proportion, wilsonBound } from "./proportion.ts";
import { mean, quantile } from "./summary.ts";

/** Load times of one network, in milliseconds; every session of these begins on HTTP/2, but for `coldMs`. */
export interface RegretLoads {
  /** fixed-h2: the session stays. */
  readonly stayMs: readonly number[];
  /** always-offer: the session is offered HTTP/3 and switches. */
  readonly switchMs: readonly number[];
  readonly adaptive: readonly AdaptiveLoad[];
  /** fixed-h3, from the first packet: for the regret to the free choice. */
  readonly coldMs: readonly number[];
  /** Time to the first byte, of `adaptive` and of the other arms that begin on HTTP/2. */
  readonly firstByteMs?: { readonly adaptive: readonly number[]; readonly others: readonly number[] } | undefined;
}

export interface AdaptiveLoad {
  readonly loadMs: number;
  /** Whether this load was offered HTTP/3 and switched. */
  readonly switched: boolean;
}

export type Regret = ReturnType<typeof regret>;

/**
 * The mean of the middle half: packets lost in a handshake cost from two RTTs to a second, in either arm, and would drown a
 * millisecond. A median would not see a wait that under half of the loads have.
 */
function interquartileMean(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return mean(sorted.slice(Math.floor(sorted.length / 4), Math.ceil((3 * sorted.length) / 4)));
}

/**
 * The cost of decisions on one network, as design.md defines regret.
 *
 * Taking the smaller of two noisy means as the truth would count noise as regret: so the better choice is made on one
 * half of the loads and scored on the other, and may then cost less than nothing. The estimate averages over `splits` random
 * halvings, each in both directions. Intervals: percentiles of a bootstrap that halves first and resamples within the halves
 * (halving a resample would put one load into both), with P(wrong) drawn from its Wilson bounds, as resampling 0 wrong of 100
 * would always give 0.
 *
 * It asks for four loads of each arm: a half of fewer has no spread.
 */
export function regret(
  { stayMs, switchMs, coldMs, adaptive, firstByteMs }: RegretLoads,
  { random, resamples = 2_000, splits = 20 }: { random: Random; resamples?: number; splits?: number },
) {
  const halvedMeans = (average: (values: readonly number[]) => number): HalvedMeans => {
    const halves = { stay: halve(stayMs, random), switch: halve(switchMs, random), cold: halve(coldMs, random) };
    const both = ([one, other]: readonly [readonly number[], readonly number[]]): readonly [number, number] => [
      average(one),
      average(other),
    ];
    return { stay: both(halves.stay), switch: both(halves.switch), cold: both(halves.cold) };
  };
  const betterMean = Math.min(mean(stayMs), mean(switchMs));
  const shiftOf = (pick: (values: readonly number[]) => readonly number[]): number =>
    firstByteMs === undefined
      ? Number.NaN
      : Math.max(0, interquartileMean(pick(firstByteMs.adaptive)) - interquartileMean(pick(firstByteMs.others))) /
        betterMean;

  const switched = adaptive.filter((load) => load.switched).length;
  const shareSwitched = switched / adaptive.length;
  const adaptiveMean = meanOf(adaptive);
  const shift = shiftOf((values) => values);
  const estimates = Array.from({ length: splits }, () => ({
    ...scoreRegret(halvedMeans(mean), { adaptiveMean, shareSwitched, shareForDecision: shareSwitched }),
    shift,
  }));
  const drawn = Array.from({ length: resamples }, () => {
    const loads = resampled(adaptive, random);
    const scored = scoreRegret(
      halvedMeans((values) => mean(resampled(values, random))),
      {
        adaptiveMean: meanOf(loads),
        shareSwitched: loads.filter((load) => load.switched).length / loads.length,
        shareForDecision: wilsonBound(switched, adaptive.length, normal(random)),
      },
    );
    return { ...scored, shift: shiftOf((values) => resampled(values, random)) };
  });
  // The estimate, its 95 % interval, and the one-sided bound that 95 % of such bounds lie above the truth.
  const bounded = (figure: (scored: RegretScore & { readonly shift: number }) => number) => {
    const draws = drawn.map(figure);
    return { ...percentileInterval(mean(estimates.map(figure)), draws), upper95: quantile(draws, 0.95) };
  };

  const stayToSwitch = ratioOfMeansInterval(stayMs, switchMs, { random, resamples });
  const better: "stay" | "switch" = stayToSwitch.estimate <= 1 ? "stay" : "switch";
  const expected = ({ decision, shift: later }: RegretScore & { readonly shift: number }): number => decision + later;
  return {
    /** By all loads, for the label only: the figures below choose on one half and score on the other. */
    better,
    /** Whether the interval of `stayToSwitch` holds 1, so that neither choice is known to be wrong: report it apart. */
    tie: stayToSwitch.low <= 1 && stayToSwitch.high >= 1,
    stayToSwitch,
    /** Adaptive loads that did not do what is `better`. */
    wrong: proportion(better === "stay" ? switched : adaptive.length - switched, adaptive.length),
    /** P(wrong) x (worse mean / better mean - 1). */
    decision: bounded(({ decision }) => decision),
    /** (adaptive mean - mean of stay and switch mixed as adaptive did) / better mean. May be noise around 0. */
    overhead: bounded(({ overhead }) => overhead),
    /** decision + overhead, which is the adaptive mean / better mean - 1. */
    total: bounded(({ decision, overhead }) => decision + overhead),
    /**
     * decision + what deciding adds to the time of the first byte, over the better mean; undefined without `firstByteMs`.
     * Once the document of a session's only page is there, an adaptive session does what the arm of its choice does: the
     * rest of `overhead` is the draw of losses. The shift is of means of the middle half, and never below 0.
     */
    expected: firstByteMs === undefined ? undefined : bounded(expected),
    /** Draws of `expected`, for bounds of means over networks; as many as resamples. */
    expectedDraws: firstByteMs === undefined ? undefined : drawn.map(expected),
    /** Adaptive mean / better mean of stay and cold - 1. */
    toFreeChoice: bounded(({ toFreeChoice }) => toFreeChoice),
  };
}

/** Means of the two halves of each arm. */
type HalvedMeans = Readonly<Record<"stay" | "switch" | "cold", readonly [number, number]>>;

interface AdaptiveMeans {
  readonly adaptiveMean: number;
  /** The share that the mixture is made of: that of the very loads in `adaptiveMean`. */
  readonly shareSwitched: number;
  /** The share that P(wrong) is taken from: the same for an estimate, another draw in a bootstrap. */
  readonly shareForDecision: number;
}

type RegretScore = Readonly<Record<"decision" | "overhead" | "toFreeChoice", number>>;

/** Chooses on one half and scores on the other, in both directions, and averages the two. */
function scoreRegret(means: HalvedMeans, adaptive: AdaptiveMeans): RegretScore {
  const there = scoreDirection(means, adaptive, 0, 1);
  const back = scoreDirection(means, adaptive, 1, 0);
  return {
    decision: (there.decision + back.decision) / 2,
    overhead: (there.overhead + back.overhead) / 2,
    toFreeChoice: (there.toFreeChoice + back.toFreeChoice) / 2,
  };
}

function scoreDirection(
  { stay, switch: switched, cold }: HalvedMeans,
  { adaptiveMean, shareSwitched, shareForDecision }: AdaptiveMeans,
  chooseOn: 0 | 1,
  scoreOn: 0 | 1,
): RegretScore {
  const stayIsBetter = stay[chooseOn] <= switched[chooseOn];
  const [better, worse] = stayIsBetter ? [stay[scoreOn], switched[scoreOn]] : [switched[scoreOn], stay[scoreOn]];
  const wrong = stayIsBetter ? shareForDecision : 1 - shareForDecision;
  const mixture = (1 - shareSwitched) * stay[scoreOn] + shareSwitched * switched[scoreOn];
  const free = stay[chooseOn] <= cold[chooseOn] ? stay[scoreOn] : cold[scoreOn];
  return {
    decision: wrong * (worse / better - 1),
    // Over the better mean, not over the mixture: only so do the two parts add up to the whole exactly.
    overhead: (adaptiveMean - mixture) / better,
    toFreeChoice: adaptiveMean / free - 1,
  };
}

function meanOf(loads: readonly AdaptiveLoad[]): number {
  return mean(loads.map(({ loadMs }) => loadMs));
}
