import { list, number, object, type Read, withDefault } from "./parse.ts";

export const readVisit = object({
  /** The share of visits with one page, two, three, ...; adds up to 1. */
  pages: list(number(0, 1), 1, 100),
  /** The share of visits after which the client comes back, about so many seconds later. */
  returns: withDefault(list(object({ afterS: number(1, 1e8), share: number(0, 1) }), 0, 20), []),
});
/** How a site is visited: what an offer's worth is weighed by. */
export type VisitProfile = Read<typeof readVisit>;

/** Return times are lognormal around `afterS`: the deviation of their logarithm. */
const RETURN_DEVIATION = 0.3;
/** Pages that are further apart belong to two visits, milliseconds. */
export const VISIT_GAP_MS = 1_800_000;

/** How many pages follow on average: after a visit's first page, and after any later one. */
export function pagesAhead({ pages }: VisitProfile): { readonly first: number; readonly later: number } {
  let views = 0;
  let ahead = 0;
  let first = 0;
  for (const [i, share] of pages.entries()) {
    first += share * i;
    // A visit of i + 1 pages has i later ones, after which i - 1, i - 2, ..., 0 follow.
    views += share * i;
    ahead += (share * i * (i - 1)) / 2;
  }
  return { first, later: views === 0 ? 0 : ahead / views };
}

/** How many returns to expect within `maS` seconds of an offer. */
export function returnsWithin({ returns }: VisitProfile, maS: number): number {
  let within = 0;
  for (const { afterS, share } of returns) within += share * normal(Math.log(maS / afterS) / RETURN_DEVIATION);
  return within;
}

/** The normal distribution up to z, within 0.0003: a logistic curve, by Bowling et al. 2009, equation 10. */
function normal(z: number): number {
  return 1 / (1 + Math.exp(-(0.07056 * z * z * z + 1.5976 * z)));
}
