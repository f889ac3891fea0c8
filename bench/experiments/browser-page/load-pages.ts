import { UserError } from "../../../base/user-error.ts";
import type { Run } from "../../harness/experiment.ts";
import { unlessItFails } from "../../harness/unless-it-fails.ts";
import { type Lab, startLab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import type { LoadOptions } from "../../model/load-experiment.ts";
import { launchIn } from "./browser.ts";
import { type Browsers, measureVisit } from "./measure.ts";
import { type Crowd, recordConnections } from "./record-connections.ts";
import type { BrowserRow } from "./row.ts";
import { missingVisits } from "./schedule.ts";
import { type Place, placeId } from "./settings.ts";
import type { BrowserSummary } from "./summary.ts";

/** One browser alone, and as many at a time as in the run. */
const CROWDS: readonly Crowd[] = [
  [1, 60],
  [3, 20],
];
const QUICK_CROWDS: readonly Crowd[] = [
  [1, 1],
  [2, 1],
];

export type Recorded = Pick<BrowserSummary, "browser" | "connections">;

/** Loads the pages that have no row yet: places that keep the machine busy alone, the others side by side. @throws UserError */
export async function loadPages(
  places: readonly Place[],
  { folder, signal: interrupted, progress }: Pick<Run<unknown, BrowserRow>, "folder" | "signal" | "progress">,
  { seed, program }: { seed: number; program: string },
): Promise<void> {
  if (places.every((place) => missingVisits(place, folder.rows, seed).length === 0)) return;
  const together = places.filter(({ isAlone }) => !isAlone);
  const arms = [...new Set(places.flatMap((place) => place.arms))];
  const lab = await startLab({ arms, lanes: lanesOf(places) });
  const broken = new AbortController();
  const measurePlace = async (place: Place, lane: Lane | undefined, told: AbortSignal): Promise<void> => {
    const signal = AbortSignal.any([told, broken.signal]);
    if (lane === undefined) throw new Error("Each place has a lane.");
    const own = new AsyncDisposableStack();
    try {
      const browsers = await launchBoth(place, lane, lab, program, own);
      for (const visit of missingVisits(place, folder.rows, seed)) {
        if (signal.aborted) return;
        const isAlive = (): boolean => browsers.plain.isConnected() && browsers.forced.isConnected();
        const rows = await measureVisit(visit, { place, lane, browsers, seed }).catch((error: unknown) => {
          if (!signal.aborted && isAlive()) throw error;
          return [];
        });
        // What fails as the system under it is being stopped, or with its browser, is no result.
        if (signal.aborted) return;
        if (!isAlive()) throw new UserError("The browser ended by itself: the same command goes on.");
        for (const row of rows) folder.append(row);
        progress.show(shareOf(places, folder.rows), `${folder.rows.length} rows, now ${placeId(place)}`);
      }
    } catch (error) {
      // The others end too, before the lab under them does.
      broken.abort((error as Error).message);
      throw error;
    } finally {
      await own.disposeAsync();
    }
  };
  try {
    await unlessItFails(lab.failed, interrupted, async (signal) => {
      for (const place of places.filter(({ isAlone }) => isAlone)) await measurePlace(place, lab.lanes[0], signal);
      const ended = await Promise.allSettled(
        together.map((place, index) => measurePlace(place, lab.lanes[index], signal)),
      );
      for (const one of ended) if (one.status === "rejected") throw one.reason;
    });
  } finally {
    await lab.stop();
  }
}

async function launchBoth(
  place: Place,
  lane: Lane,
  lab: Lab,
  program: string,
  stack: AsyncDisposableStack,
): Promise<Browsers> {
  const { address, spkiSha256, port } = lane.origin("fixed-h3", place.congestion);
  const common = { program, folder: lab.folder, stack, address, spkiSha256 };
  return {
    plain: await launchIn(lane, common),
    forced: await launchIn(lane, { ...common, forcedPorts: [port] }),
  };
}

/** On the path with the longest delay, where the flights stand apart. */
export async function recordOn(
  places: readonly Place[],
  program: string,
  size: LoadOptions["size"],
  signal: AbortSignal,
): Promise<Recorded | undefined> {
  const place = places.toSorted((one, other) => other.network.delayMs - one.network.delayMs)[0];
  if (place === undefined) throw new Error("There is a place.");
  return recordConnections({ place, program, crowds: size === "quick" ? QUICK_CROWDS : CROWDS, signal });
}

/** How many places are measured at the same time. */
export function lanesOf(places: readonly Place[]): number {
  return Math.max(1, places.filter(({ isAlone }) => !isAlone).length);
}

export function shareOf(places: readonly Place[], rows: readonly BrowserRow[]): number {
  const all = places.reduce(
    (sum, { pages, arms, visits, pausesMs }) => sum + pages.length * arms.length * visits * (pausesMs.length + 1),
    0,
  );
  return rows.length / all;
}
