import type { Arm } from "../../model/arm.ts";
import type { BrowserPage } from "../../model/browser-pages.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { type Place, placeId } from "./settings.ts";

/** One browser that knows nothing of the site yet, and all its navigations. */
export interface Visit {
  readonly id: string;
  readonly page: BrowserPage;
  readonly arm: Arm;
  /** From 0. */
  readonly visit: number;
}

/**
 * The visits of a place whose last navigation has no row yet, in rounds of one for each page and arm, in random order. A function of the
 * place, the seed and the rows, so that a run goes on where another stopped.
 */
export function missingVisits(place: Place, rows: readonly { readonly id: string }[], seed: number): Visit[] {
  const made = new Set(rows.map(({ id }) => id));
  const last = place.pausesMs.length + 1;
  return Array.from({ length: place.visits }, (_, visit) => {
    const round = place.pages.flatMap((page) =>
      place.arms.map((arm) => ({ id: `${placeId(place)}/${page}/${arm}/${visit}`, page, arm, visit })),
    );
    return shuffle(round, seededRandom(seed, "visits", placeId(place), visit));
  })
    .flat()
    .filter(({ id }) => !made.has(navigationId(id, last)));
}

/** @param navigation from 1 */
export function navigationId(visit: string, navigation: number): string {
  return `${visit}/${navigation}`;
}
