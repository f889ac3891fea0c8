import type { Browser } from "playwright-core";
import type { Arm } from "../../model/arm.ts";
import { browserPath } from "../../model/browser-pages.ts";
import type { Lane } from "../../lab/lane.ts";
import { watchCores } from "../../lab/cores.ts";
import { countedBetween, type PathCounters } from "../../lab/path-counters.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { HOST } from "./browser.ts";
import type { BrowserRow } from "./row.ts";
import { navigationId, type Visit } from "./schedule.ts";
import { type Place, placeId, TIMEOUT_MS } from "./settings.ts";
import { type Navigated, visit as makeVisit } from "./visit.ts";

/** One that follows Alt-Svc alone, and one that speaks QUIC to the arm `fixed-h3` from the first packet. */
export interface Browsers {
  readonly plain: Browser;
  readonly forced: Browser;
}

/** Makes one visit, from an address that the server has not seen, and reads cores and path around each navigation. */
export async function measureVisit(
  visit: Visit,
  { place, lane, browsers, seed }: { place: Place; lane: Lane; browsers: Browsers; seed: number },
): Promise<BrowserRow[]> {
  const { rateMbps, delayMs, lossRatio, queueBytes } = place.network;
  await lane.path.set({
    seed: integer(2 ** 31, seededRandom(seed, "path", visit.id)),
    aToB: { rateMbps, delayMs, queueBytes },
    bToA: { rateMbps, delayMs, queueBytes, lossRatio },
  });
  await lane.setClientAddress(lane.freshClient());
  const { port } = lane.origin(visit.arm, place.congestion);
  const counted: PathCounters[] = [];
  const { result: navigations, busyRatio } = await watchCores(() =>
    makeVisit(browserFor(visit.arm, browsers), `https://${HOST}:${port}${browserPath(visit.page)}`, {
      pausesMs: place.pausesMs,
      onNavigation: async (work) => {
        const before = await lane.path.counters();
        const navigated = await work();
        counted.push(countedBetween(before, await lane.path.counters()));
        return navigated;
      },
    }),
  );
  return navigations.map((navigated, index) =>
    rowOf(visit, place, index + 1, navigated, busyRatio(navigated.startedMs, navigated.endedMs), counted[index]),
  );
}

function browserFor(arm: Arm, { plain, forced }: Browsers): Browser {
  return arm === "fixed-h3" ? forced : plain;
}

export function rowOf(
  { id, page, arm, visit }: Visit,
  place: Place,
  navigation: number,
  { startedMs, error, altSvc, timing, isTimeout }: Navigated,
  busyRatio: number,
  counted: PathCounters | undefined,
): BrowserRow {
  const packets = (counted?.up ?? 0) + (counted?.down ?? 0);
  return {
    id: navigationId(id, navigation),
    place: placeId(place),
    congestion: place.congestion,
    page,
    arm,
    visit,
    navigation,
    startedMs,
    outcome: timing !== undefined ? "ok" : isTimeout ? "timeout" : "failed",
    error,
    loadMs: timing?.loadMs ?? (isTimeout ? TIMEOUT_MS : null),
    lcpMs: timing?.lcpMs ?? null,
    ttfbMs: timing?.ttfbMs ?? null,
    connectMs: timing?.connectMs ?? null,
    documentProtocol: timing?.documentProtocol ?? "",
    resourcesH2: timing?.resourcesH2 ?? null,
    resourcesH3: timing?.resourcesH3 ?? null,
    resourceBytes: timing?.resourceBytes ?? null,
    answer: timing === undefined ? "" : altSvc.startsWith("h3=") ? "offer" : altSvc === "clear" ? "clear" : "none",
    busyRatio: Number.isFinite(busyRatio) ? busyRatio : null,
    lateRatio: counted === undefined || packets === 0 || Number.isNaN(counted.late) ? null : counted.late / packets,
    packetsDroppedLoss: counted?.droppedLoss ?? null,
    packetsDroppedQueue: counted?.droppedQueue ?? null,
  };
}
