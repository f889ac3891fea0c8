import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { setNetwork } from "../../harness/set-network.ts";
import { HOST, openClient } from "../../lab/browser.ts";
import { watchCores } from "../../lab/cores.ts";
import type { Lane } from "../../lab/lane.ts";
import { navigate, type Navigated } from "../../lab/navigate.ts";
import { countedBetween, type PathCounters } from "../../lab/path-counters.ts";
import { shell } from "../../lab/shell.ts";
import { browserPath, OFFER_PARAMETER } from "../../model/browser-pages.ts";
import { blankRow } from "../../model/row-schema.ts";
import { OFFER_ROW, type OfferRow } from "../../model/offer-row.ts";
import { pageId, type Visit } from "./schedule.ts";
import { AWAY_MS, type Place, RETURN } from "./settings.ts";
import type { Turns } from "./turns.ts";

export interface Measuring {
  readonly lane: Lane;
  readonly browser: Browser;
  readonly seed: number;
  readonly quick: boolean;
  readonly signal: AbortSignal;
  /** Of the pages that are over soon: they keep the cores busy. */
  readonly turns: Turns;
}

/** Where loss makes a page last for seconds the cores rest, and others like it need not wait for it. */
export function lasts({ network, congestion }: Place): boolean {
  return network.lossRatio > 0 && congestion === "cubic";
}

/** Pauses up to this are kept by keeping the turn: waiting for another one would make them longer. */
const SHORT_PAUSE_MS = 1_000;

/** Makes one visit and its return. The server is an edge without a worker; the origin answers as the URL asks. */
export async function measureVisit(
  visit: Visit,
  { lane, browser, seed, quick, signal, turns }: Measuring,
): Promise<OfferRow[]> {
  const { place, treatment } = visit;
  await setNetwork(lane, place.network, seed, visit.id);
  const page = await turns.take(() => openClient(browser, lane));
  const { port } = lane.origin("bare", place.congestion);
  const rest = (ms: number): Promise<void> => pause(ms, undefined, { signal });
  const load = async (number: number): Promise<OfferRow> => {
    const answer = treatment.answers[number - 1] ?? "none";
    const url = `https://${HOST}:${port}${browserPath("page")}?${OFFER_PARAMETER}=${answer}&page=${number}`;
    return measurePage(visit, number, page, url, lane);
  };
  const inTurn = <T>(call: () => Promise<T>): Promise<T> => (lasts(place) ? call() : turns.take(call));
  const rows: OfferRow[] = [];
  const isShort = treatment.pauseMs <= SHORT_PAUSE_MS;
  const pages = async (): Promise<void> => {
    for (let number = 1; number < RETURN; number++) {
      if (number > 1) await rest(treatment.pauseMs);
      rows.push(await (isShort ? load(number) : inTurn(() => load(number))));
    }
  };
  try {
    await (isShort ? inTurn(pages) : pages());
    await endTcp(lane);
    await rest(quick ? 500 : AWAY_MS);
    rows.push(await inTurn(() => load(RETURN)));
    return rows;
  } finally {
    await page.context().close();
  }
}

async function measurePage(visit: Visit, number: number, page: Page, url: string, lane: Lane): Promise<OfferRow> {
  const before = await lane.path.counters();
  const startedMs = Date.now();
  const { result: seen, busyRatio } = await watchCores(() => navigate(page, url));
  const busy = busyRatio(startedMs, startedMs + (seen.loadMs ?? 0));
  return rowOf(
    visit,
    number,
    { startedMs, busyRatio: busy, ...seen },
    countedBetween(before, await lane.path.counters()),
  );
}

export function rowOf(
  { id, place, treatment, visit }: Visit,
  page: number,
  { files = [], busyRatio, ...seen }: Navigated & { readonly startedMs: number; readonly busyRatio: number },
  { up, down, late, droppedLoss, droppedQueue }: PathCounters,
): OfferRow {
  return blankRow(OFFER_ROW, {
    id: pageId(id, page),
    network: place.network.name,
    congestion: place.congestion,
    treatment: treatment.name,
    visit,
    page,
    ...seen,
    files: files.map((protocol) => protocol.replace("h", "")).join(""),
    busyRatio: Number.isFinite(busyRatio) ? busyRatio : null,
    lateRatio: Number.isFinite(late / (up + down)) ? late / (up + down) : null,
    packetsDroppedLoss: droppedLoss,
    packetsDroppedQueue: droppedQueue,
  });
}

/** Ends all TCP connections of a lane's clients, as a browser does that is closed. */
async function endTcp({ clientNamespace }: Lane): Promise<void> {
  await shell("ip", "netns", "exec", clientNamespace, "ss", "-K", "-t", "-a");
}
