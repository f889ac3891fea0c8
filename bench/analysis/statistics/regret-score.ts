import type { Halves } from "./halves.ts";

/** Means of the two halves of each arm. */
export interface HalvedMeans {
  readonly stay: readonly [number, number];
  readonly switch: readonly [number, number];
  readonly cold: readonly [number, number] | undefined;
}

export interface AdaptiveMeans {
  readonly adaptiveMean: number;
  /** The share that the mixture is made of: that of the very loads in `adaptiveMean`. */
  readonly shareSwitched: number;
  /** The share that P(wrong) is taken from: the same for an estimate, another draw in a bootstrap. */
  readonly shareForDecision: number;
}

export interface RegretScore {
  readonly decision: number;
  readonly overhead: number;
  readonly toFreeChoice: number;
}

/** Chooses on one half and scores on the other, in both directions, and averages the two. */
export function scoreRegret(means: HalvedMeans, adaptive: AdaptiveMeans): RegretScore {
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
  const [betterMean, worseMean] = stayIsBetter
    ? [stay[scoreOn], switched[scoreOn]]
    : [switched[scoreOn], stay[scoreOn]];
  const wrong = stayIsBetter ? shareForDecision : 1 - shareForDecision;
  const mixture = (1 - shareSwitched) * stay[scoreOn] + shareSwitched * switched[scoreOn];
  const freeMean = cold === undefined || stay[chooseOn] <= cold[chooseOn] ? stay[scoreOn] : cold[scoreOn];
  return {
    decision: wrong * (worseMean / betterMean - 1),
    // Over the better mean, not over the mixture: only so do the two parts add up to the whole exactly.
    overhead: (adaptiveMean - mixture) / betterMean,
    toFreeChoice: adaptiveMean / freeMean - 1,
  };
}

/** The means of both halves, as `average` takes them: plainly, or of a resample. */
export function halvedMeans(
  halves: { readonly stay: Halves; readonly switch: Halves; readonly cold: Halves | undefined },
  average: (values: readonly number[]) => number,
): HalvedMeans {
  const both = ([one, other]: Halves): readonly [number, number] => [average(one), average(other)];
  return {
    stay: both(halves.stay),
    switch: both(halves.switch),
    cold: halves.cold === undefined ? undefined : both(halves.cold),
  };
}
