/** Something of the clients that were assigned to be offered HTTP/3, and of those that were not. */
export interface Arms<T> {
  readonly offered: T;
  readonly withheld: T;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** A figure, its standard error at this look, and an interval that holds at every look. */
export interface Estimate extends Interval {
  readonly value: number;
  readonly se: number;
}

/** The same of each arm. */
export function ofEach<A, B>({ offered, withheld }: Arms<A>, of: (arm: A) => B): Arms<B> {
  return { offered: of(offered), withheld: of(withheld) };
}

/** How often a sequence may leave the truth outside at any look at all. */
export const ALPHA = 0.05;

/** Below this many clients in an arm there is no interval: the sum of fewer is not normal enough. */
export const CLIENTS_MIN = 100;

/**
 * The number of clients, both arms together, at which the interval is as narrow as it can be beside one for a fixed number:
 * 1.55 times as wide. At 1,000 clients it is 1.97 times as wide, at 100,000 it is 1.65 times.
 */
export const TUNED_TO_CLIENTS = 10_000;

/**
 * By how many standard errors an interval that holds at every look reaches to either side, after so many clients.
 *
 * Asymptotic confidence sequence: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and
 * asymptotic confidence sequences", Annals of Statistics 52 (2024), arXiv:2103.06476v7, equation 9:
 *
 *     sd x sqrt(2 (t rho^2 + 1) / (t^2 rho^2) x ln(sqrt(t rho^2 + 1) / alpha))
 *
 * With se = sd / sqrt(t) this is se x what is returned. Each client is one draw t, of whichever arm: a difference of two
 * arms' means is a mean over both arms' clients, in which each weighs by one over its arm's share. So arms may be of
 * unequal size.
 *
 * Equation 9 is of draws that stay as they are, but a client's row grows while others arrive. That is not proven here. A
 * simulation had rows that grow, and counted how often their intervals hold (bench/results/field-statistics).
 */
export function reachAfter(clients: number, alpha = ALPHA, tunedTo = TUNED_TO_CLIENTS): number {
  const x = clients * rhoSquared(alpha, tunedTo);
  return Math.sqrt(((2 * (x + 1)) / x) * Math.log(Math.sqrt(x + 1) / alpha));
}

/** The rho at which the sequence is narrowest after so many clients: the same paper, equation 161, without its iteration. */
function rhoSquared(alpha: number, tunedTo: number): number {
  const twice = -2 * Math.log(alpha);
  return (twice + Math.log(twice + 1)) / tunedTo;
}

/** A figure with an interval that holds at every look. Undefined while an arm has too few clients. */
export function estimateOf(value: number, se: number, clients: Arms<number>): Estimate | undefined {
  if (!hasEnough(clients) || !Number.isFinite(value) || !(se >= 0)) return undefined;
  const reach = se * reachAfter(clients.offered + clients.withheld);
  return { value, se, low: value - reach, high: value + reach };
}

export function hasEnough({ offered, withheld }: Arms<number>): boolean {
  return offered >= CLIENTS_MIN && withheld >= CLIENTS_MIN;
}

export function excludesZero({ low, high }: Interval): boolean {
  return low > 0 || high < 0;
}
