import { TIME_MAX_MS } from "./client-day.ts";
import type { OutcomeSums } from "./gathered.ts";
import type { PageOutcome } from "./page-outcome.ts";
import { quantileOf, type Sketch } from "./quantiles.ts";
import { EVERYWHERE, rttClassOf, rttKey } from "./row-keys.ts";

/** What pages took before, of both arms and all versions together. */
export type TimesBefore = Omit<OutcomeSums, "sums">;

/** What a page is expected to take, milliseconds. */
export interface ExpectedTimes {
  readonly loadMs: number;
  readonly lcpMs: number;
}

/** From so many pages on their median is taken: it is then right to about 20 % where times spread by a factor of 2. */
const PAGES_MIN = 20;

/** Before that, a page as a plain model has it. Assumed: it only has to be within REACH of most pages. */
const MODEL = { serverMs: 300, roundTrips: 6, bytesPerMs: 20_000_000 / 8 / 1000 } as const;
/** Assumed where nobody knows the RTT. */
const RTT_MS = 50;

/** The key of the pages that a page is compared with: those of its RTT class. Of all pages if nobody knows its RTT. */
export function comparedWith({ rttMs }: Pick<PageOutcome, "rttMs">): string {
  return rttMs === undefined ? EVERYWHERE : rttKey(rttClassOf(rttMs));
}

/**
 * What a page is expected to take: the median of what pages of its RTT class took before in this object, and before there
 * are enough of them, a plain model. Pure.
 *
 * A site's pages may be far from any model: a slow origin takes seconds whatever the RTT is. REACH cuts at a factor of 4 of
 * what is expected, so with the model alone all pages of such a site could be at the bound, where nothing shows. The median of
 * the site's own pages is in their midst.
 *
 * It knows nothing of the page's arm or version, and the pages before are of both arms. So it is the same for a page whichever
 * arm the page is in, and a comparison of the arms that uses it as a covariate stays unbiased.
 *
 * @param before Of the pages of `comparedWith`. Undefined: none
 */
export function expectedTimes(
  { rttMs = RTT_MS, contentBytes }: Pick<PageOutcome, "rttMs" | "contentBytes">,
  before: TimesBefore | undefined,
): ExpectedTimes {
  const modelMs = MODEL.serverMs + MODEL.roundTrips * rttMs + contentBytes / MODEL.bytesPerMs;
  const expectedMs = (sketch: Sketch | undefined): number =>
    Math.min(TIME_MAX_MS, Math.max(1, medianOf(sketch ?? []) ?? modelMs));
  return { loadMs: expectedMs(before?.load), lcpMs: expectedMs(before?.lcp) };
}

function medianOf(sketch: Sketch): number | undefined {
  const pages = sketch.reduce((sum, [, count]) => sum + count, 0);
  return pages < PAGES_MIN ? undefined : quantileOf(sketch, 0.5);
}
