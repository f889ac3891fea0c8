import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { PAGES, type Place, type Treatment } from "./settings.ts";

/** A browser that knows nothing of the site yet, its pages, and its return. */
export interface Visit {
  readonly id: string;
  readonly place: Place;
  readonly treatment: Treatment;
  /** From 0. */
  readonly visit: number;
}

/**
 * The visits whose return has no row yet, in rounds of one for each place and treatment, each round in random order. A function of
 * the places, the seed and the rows, so that a run goes on where another stopped.
 */
export function missingVisits(
  places: readonly Place[],
  rows: readonly { readonly id: string }[],
  seed: number,
): Visit[] {
  const made = new Set(rows.map(({ id }) => id));
  const most = Math.max(...places.map(({ visits }) => visits));
  return Array.from({ length: most }, (_, visit) => {
    const round = places
      .filter(({ visits }) => visit < visits)
      .flatMap((place) =>
        place.treatments.map((treatment) => ({
          id: `${place.network.name}/${place.congestion}/${treatment.name}/${visit}`,
          place,
          treatment,
          visit,
        })),
      );
    return shuffle(round, seededRandom(seed, "offers", visit));
  })
    .flat()
    .filter(({ id }) => !made.has(pageId(id, PAGES)));
}

/** @param page from 1 */
export function pageId(visit: string, page: number): string {
  return `${visit}/${page}`;
}
