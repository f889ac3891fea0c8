/** Rates of lines, bytes per second, and the share of clients that have about such a one (assumed: access lines, fixed and cellular). */
export const LINES = [
  { rateBps: 50e6 / 8, share: 0.75 },
  { rateBps: 150e6 / 8, share: 0.17 },
  { rateBps: 300e6 / 8, share: 0.065 },
  { rateBps: 700e6 / 8, share: 0.015 },
] as const;
/** Round trips of a page in which its sender's rate does not count. */
export const ROUNDS = 4;

/**
 * A rate counts up to so many times the ceiling: HTTP/2 was at most 2.7 times as fast as HTTP/3 in any browser that was measured
 * (half a core, 500 Mbit/s, 21.7 MB; bench/results/browsers).
 */
export const RATE_MAX = 3.5;

/** What is known of the rate of a client's line, bytes per second; 0: nothing. */
export interface LineRate {
  /** The largest that its own connections have reached. */
  readonly reachedBps: number;
  /** What the connection at hand shows before it has carried much: the line's is no less. */
  readonly leastBps: number;
}

/**
 * What a page loses as HTTP/3 carries at most so much: ln(its time over a line that is not bounded by it / its time with the bound), 0 or
 * less. A page takes its bytes by the rate, and four round trips. Where nothing was reached yet it is the mean over lines. Pure.
 *
 * @param ceilingBps bytes per second
 */
export function ceilingLoss(
  ceilingBps: number,
  { rttMs, contentBytes }: { readonly rttMs: number; readonly contentBytes: number },
  { reachedBps, leastBps }: LineRate,
): number {
  const at = (lineBps: number): number => {
    const rateBps = Math.min(lineBps, RATE_MAX * ceilingBps);
    if (rateBps <= ceilingBps) return 0;
    const restS = (ROUNDS * rttMs) / 1_000;
    return Math.log((contentBytes / rateBps + restS) / (contentBytes / ceilingBps + restS));
  };
  if (reachedBps > 0) return at(Math.max(reachedBps, leastBps));
  return LINES.reduce((sum, { rateBps, share }) => sum + share * at(Math.max(rateBps, leastBps)), 0);
}
