import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { browserPath } from "../../model/browser-pages.ts";
import { blankRow } from "../../model/row-schema.ts";
import type { Lane } from "../../lab/lane.ts";
import { watchCores } from "../../lab/cores.ts";
import { countedBetween, type PathCounters } from "../../lab/path-counters.ts";
import { setNetwork } from "../../harness/set-network.ts";
import { HOST, openClient } from "../../lab/browser.ts";
import { navigate, type Navigated } from "../../lab/navigate.ts";
import { BROWSER_ROW, type BrowserRow } from "./row.ts";
import { navigationId, type Visit } from "./schedule.ts";
import { type Place, placeId } from "./settings.ts";

/**
 * Makes one visit of a browser that knows nothing of the site: its own connections, its own Alt-Svc, no cache, an address that
 * the server has not seen. Reads cores and path around each navigation.
 */
export async function measureVisit(
  visit: Visit,
  { place, lane, browser, seed }: { place: Place; lane: Lane; browser: Browser; seed: number },
): Promise<BrowserRow[]> {
  await setNetwork(lane, place.network, seed, visit.id);
  const url = `https://${HOST}:${lane.origin(visit.arm, place.congestion).port}${browserPath(visit.page)}`;
  const page = await openClient(browser, lane);
  try {
    const { result, busyRatio } = await watchCores(async () => {
      const navigations = [];
      for (const [index, pauseMs] of [0, ...place.pausesMs].entries()) {
        await pause(pauseMs);
        const before = await lane.path.counters();
        const startedMs = Date.now();
        const navigated = await navigate(page, `${url}?${index + 1}`);
        const counted = countedBetween(before, await lane.path.counters());
        navigations.push({ startedMs, navigated, counted });
      }
      return navigations;
    });
    return result.map(({ startedMs, navigated, counted }, index) => {
      const busy = busyRatio(startedMs, startedMs + (navigated.loadMs ?? 0));
      return rowOf(visit, place, index + 1, { startedMs, busyRatio: busy, ...navigated }, counted);
    });
  } finally {
    await page.context().close();
  }
}

export function rowOf(
  { id, page, arm, visit }: Visit,
  place: Place,
  navigation: number,
  { files, ...seen }: Navigated & { readonly startedMs?: number; readonly busyRatio?: number },
  { up, down, late, droppedLoss, droppedQueue }: PathCounters,
): BrowserRow {
  return blankRow(BROWSER_ROW, {
    id: navigationId(id, navigation),
    place: placeId(place),
    congestion: place.congestion,
    page,
    arm,
    visit,
    navigation,
    ...seen,
    ...(files === undefined ? {} : { resourcesH2: over("h2", files), resourcesH3: over("h3", files) }),
    busyRatio: Number.isFinite(seen.busyRatio) ? (seen.busyRatio ?? null) : null,
    lateRatio: Number.isFinite(late / (up + down)) ? late / (up + down) : null,
    packetsDroppedLoss: droppedLoss,
    packetsDroppedQueue: droppedQueue,
  });
}

function over(protocol: string, files: readonly string[]): number {
  return files.filter((one) => one === protocol).length;
}
