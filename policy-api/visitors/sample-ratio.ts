import type { Arms } from "./intervals.ts";

/** How often arms that are drawn as they should be are called uneven, at any look at all. */
export const SAMPLE_RATIO_ALPHA = 0.001;

/**
 * How near to the intended share an uneven share is looked for: as a Beta prior of so many draws. 1,000 is a deviation of
 * 1.6 points at one half. A draw that is off by 5 points then shows after about 2,200 clients, one by a point after 46,000.
 */
const PRIOR_DRAWS = 1000;

/** Whether the arms have the numbers of clients that their shares let expect. */
export interface SampleRatio {
  /** The share of clients that were offered. */
  readonly share: number;
  readonly expectedShare: number;
  /** ln of the evidence against the expected share. */
  readonly logEvidence: number;
  readonly isUneven: boolean;
}

/**
 * Checks the number of clients in each arm. Pure.
 *
 * The evidence is the ratio of the counts' probability under a Beta mixture of shares to that under the expected share. It
 * is a martingale if the draw is right, so it passes 1 / alpha at any look with probability alpha at most (Ville). Lindon
 * and Malek, "Anytime-valid inference for multinomial count data" (2022), for two arms. Turned down: a chi-square test,
 * which finds every draw uneven if one looks often enough.
 *
 * @param expectedShare Of those offered, among the clients of both arms; above 0 and below 1
 */
export function sampleRatioOf({ offered, withheld }: Arms<number>, expectedShare: number): SampleRatio {
  const [a, b] = [PRIOR_DRAWS * expectedShare, PRIOR_DRAWS * (1 - expectedShare)];
  const logEvidence =
    logBeta(a + offered, b + withheld) -
    logBeta(a, b) -
    offered * Math.log(expectedShare) -
    withheld * Math.log(1 - expectedShare);
  return {
    share: offered / (offered + withheld),
    expectedShare,
    logEvidence,
    // What cannot be reckoned (a share of 0) is uneven.
    isUneven: !(logEvidence < -Math.log(SAMPLE_RATIO_ALPHA)),
  };
}

function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b);
}

/** ln of the gamma function above 0: Stirling's series (NIST DLMF 5.11.1), from 10 on, where it is right to 1e-12. */
export function logGamma(x: number): number {
  if (!(x > 0)) return Number.NaN;
  let shift = 0;
  let z = x;
  for (; z < 10; z++) shift -= Math.log(z);
  const square = z * z;
  const series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / z;
  return shift + (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + series;
}
