import { UserError } from "../../../base/user-error.ts";
import type { Run } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import { type Arm, ARM_SETUPS } from "../../model/arm.ts";
import type { Lab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { launchIn } from "../../lab/browser.ts";
import { measureVisit } from "./measure.ts";
import type { BrowserRow } from "./row.ts";
import { missingVisits } from "./schedule.ts";
import { type Place, placeId } from "./settings.ts";

type PagesRun = Pick<Run<{ readonly seed: number }, BrowserRow>, "folder" | "signal" | "progress" | "options">;

/** Loads the pages that have no row yet: places that keep the machine busy alone, the others side by side. @throws UserError */
export async function loadPages(places: readonly Place[], run: PagesRun): Promise<void> {
  if (shareOf(places, run.folder.rows, run.options.seed) === 1) return;
  const arms = [...new Set(places.flatMap((place) => place.arms))];
  await inLab({ arms, lanes: lanesOf(places) }, run.signal, async (lab, first, told) => {
    const broken = new AbortController();
    const signal = AbortSignal.any([told, broken.signal]);
    const load = (place: Place, lane: Lane): Promise<void> => loadOn(place, lane, lab, { ...run, signal }, places);
    for (const place of places.filter(({ isAlone }) => isAlone)) await load(place, first);
    const together = places.filter(({ isAlone }) => !isAlone).map((place, i) => load(place, lab.lanes[i] ?? first));
    // Where one fails the others end too, before the lab under them does.
    for (const one of together) one.catch(() => broken.abort());
    for (const ended of await Promise.allSettled(together)) if (ended.status === "rejected") throw ended.reason;
  });
}

async function loadOn(
  place: Place,
  lane: Lane,
  lab: Lab,
  { folder, signal, progress, options: { seed } }: PagesRun,
  places: readonly Place[],
): Promise<void> {
  const stack = new AsyncDisposableStack();
  try {
    const portOf = (arm: Arm): number => lane.origin(arm, place.congestion).port;
    const origin = lane.origin("fixed-h3", place.congestion);
    const forced = place.arms.filter((arm) => ARM_SETUPS[arm].firstProtocol === "h3").map(portOf);
    const [filesPort] = place.arms.filter((arm) => ARM_SETUPS[arm].movesFiles === true).map(portOf);
    const browser = await launchIn(lane, origin, forced, lab.folder, stack, filesPort);
    for (const visit of missingVisits(place, folder.rows, seed)) {
      if (signal.aborted) return;
      const rows = await measureVisit(visit, { place, lane, browser, seed }).catch((error: unknown) => {
        if (!signal.aborted && browser.isConnected()) throw error;
        return [];
      });
      // What fails as the system under it is being stopped, or with its browser, is no result.
      if (signal.aborted) return;
      if (!browser.isConnected()) throw new UserError("The browser ended by itself: the same command goes on.");
      for (const row of rows) folder.append(row);
      progress.show(shareOf(places, folder.rows, seed), `${folder.rows.length} rows, now ${placeId(place)}`);
    }
  } finally {
    await stack.disposeAsync();
  }
}

/** How many places are measured at the same time. */
export function lanesOf(places: readonly Place[]): number {
  return Math.max(1, places.filter(({ isAlone }) => !isAlone).length);
}

/** The share of the visits that were made. */
export function shareOf(places: readonly Place[], rows: readonly BrowserRow[], seed: number): number {
  const visits = (made: readonly BrowserRow[]): number =>
    places.reduce((sum, place) => sum + missingVisits(place, made, seed).length, 0);
  return 1 - visits(rows) / visits([]);
}
