import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import type { CfL4 } from "../../../policy-api/reports/parse-cf-l4.ts";
import { type PageReport, parsePageReport } from "../../../policy-api/reports/page-report.ts";
import type { Run } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import { setNetwork } from "../../harness/set-network.ts";
import { HOST, launchIn, openClient } from "../../lab/browser.ts";
import { watchCores } from "../../lab/cores.ts";
import type { Lab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { navigate, type Navigated } from "../../lab/navigate.ts";
import { countedBetween, type PathCounters } from "../../lab/path-counters.ts";
import { browserPath } from "../../model/browser-pages.ts";
import { blankRow } from "../../model/row-schema.ts";
import {
  ARMS,
  missingVisits,
  pagesOf,
  type Place,
  placesOf,
  PROTOCOLS,
  REPORTER_ROW,
  type ReporterRow,
  type Visit,
  type Wanted,
} from "./settings.ts";

const REPORT_PATH = "/_h3/v1/report";
/** A report comes 5 s after the load event. */
const REPORT_WITHIN_MS = 8_000;

type ReporterRun = Run<Wanted & { readonly seed: number }, ReporterRow>;

/** Makes the visits that have no rows yet. Visits that rest go side by side, and after them the others, alone. @throws UserError */
export async function makeVisits({ folder, options, signal, progress }: ReporterRun): Promise<void> {
  const places = placesOf(options);
  const all = missingVisits(places, []).length;
  const arms = PROTOCOLS.flatMap((protocol) => Object.values(ARMS[protocol]));
  await inLab({ arms, lanes: lanesOf(places) }, signal, async (lab, first, told) => {
    const broken = new AbortController();
    const either = AbortSignal.any([told, broken.signal]);
    const make = async (place: Place, lane: Lane): Promise<void> => {
      await onLane(lane, lab, async (browser) => {
        for (const visit of missingVisits([place], folder.rows)) {
          const rows = await measureVisit(visit, lane, browser, options.seed).catch((error: unknown) => {
            if (!either.aborted) throw error;
            return [];
          });
          if (either.aborted) return;
          for (const row of rows) folder.append(row);
          const left = missingVisits(places, folder.rows).length;
          progress.show(1 - left / all, `${folder.rows.length} rows, now ${visit.id}`);
        }
      });
    };
    const resting = places.filter(({ waits }) => waits).map((place, i) => make(place, lab.lanes[i] ?? first));
    for (const one of resting) one.catch(() => broken.abort());
    for (const ended of await Promise.allSettled(resting)) if (ended.status === "rejected") throw ended.reason;
    for (const place of places) if (!place.waits && !either.aborted) await make(place, first);
  });
}

export function lanesOf(places: readonly Place[]): number {
  return Math.max(1, places.filter(({ waits }) => waits).length);
}

/** With a browser that speaks QUIC from the first packet where HTTP/3 is measured. */
async function onLane(lane: Lane, lab: Lab, work: (browser: Browser) => Promise<void>): Promise<void> {
  const stack = new AsyncDisposableStack();
  try {
    const forced = Object.values(ARMS.h3).map((arm) => lane.origin(arm, "cubic").port);
    await work(await launchIn(lane, lane.origin(ARMS.h3.plain, "cubic"), forced, lab.folder, stack));
  } finally {
    await stack.disposeAsync();
  }
}

/** Exported for its test. */
export interface Seen {
  readonly startedMs: number;
  readonly navigated: Navigated;
  readonly clockMs: number | undefined;
  readonly busyRatio: number;
  readonly longestTaskMs: number;
  /** Since the visit began. */
  readonly counted: PathCounters;
  /** The report, as the browser sent it. Undefined: none came. */
  readonly body: string | undefined;
}

async function measureVisit(visit: Visit, lane: Lane, browser: Browser, seed: number): Promise<ReporterRow[]> {
  const { place, protocol, asked } = visit;
  await setNetwork(lane, place.network, seed, place.network.name, String(visit.visit));
  const url = `https://${HOST}:${lane.origin(ARMS[protocol][asked], "cubic").port}${browserPath("page")}`;
  const page = await openClient(browser, lane);
  try {
    const before = await lane.path.counters();
    const rows: ReporterRow[] = [];
    for (let number = 1; number <= pagesOf(place); number++) {
      const reports = watchReports(page);
      const { result, busyRatio } = await watchCores(() => load(page, `${url}?${number}`));
      const { startedMs, navigated } = result;
      const longestTaskMs = navigated.outcome === "ok" ? await page.evaluate(longestTask) : 0;
      const body = place.waits && navigated.outcome === "ok" ? await reports() : undefined;
      const counted = countedBetween(before, await lane.path.counters());
      const busy = busyRatio(startedMs, startedMs + (navigated.loadMs ?? 0));
      rows.push(rowOf(visit, number, { ...result, busyRatio: busy, longestTaskMs, counted, body }));
    }
    return rows;
  } finally {
    await page.context().close();
  }
}

/** The page, and by the bench's clock when the browser said that it is loaded. */
async function load(page: Page, url: string): Promise<Pick<Seen, "startedMs" | "navigated" | "clockMs">> {
  let loadedMs: number | undefined;
  page.once("load", () => (loadedMs = performance.now()));
  const startedMs = Date.now();
  const fromMs = performance.now();
  const navigated = await navigate(page, url);
  return { startedMs, navigated, clockMs: loadedMs === undefined ? undefined : loadedMs - fromMs };
}

/** Watches for a report. What it returns waits for the first one, for a while. */
function watchReports(page: Page): () => Promise<string | undefined> {
  const sent = page
    .waitForRequest((request) => new URL(request.url()).pathname === REPORT_PATH, { timeout: 0 })
    .then(
      (request) => request.postData() ?? undefined,
      // The page was closed.
      () => undefined,
    );
  return () => Promise.race([sent, pause(REPORT_WITHIN_MS, undefined)]);
}

/** Runs in the page: the longest of its tasks over 50 ms. */
function longestTask(): number {
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ type: "longtask", buffered: true });
  const tasks = observer.takeRecords();
  observer.disconnect();
  return Math.max(0, ...tasks.map(({ duration }) => duration));
}

export function rowOf(
  { id, place, protocol, asked, visit }: Visit,
  page: number,
  { startedMs, navigated, clockMs, busyRatio, longestTaskMs, counted, body }: Seen,
): ReporterRow {
  const report = body === undefined ? undefined : reportOf(body);
  const l4 = report?.connections.flatMap(({ l4: found }) => found ?? []) ?? [];
  const sum = (of: (reading: CfL4) => number | undefined): number | null =>
    l4.length === 0 ? null : l4.reduce((all, reading) => all + (of(reading) ?? 0), 0);
  const { down, late, droppedLoss, droppedQueue } = counted;
  const lateRatio = late / (counted.up + down);
  return blankRow(REPORTER_ROW, {
    id: `${id}/${page}`,
    network: place.network.name,
    protocol,
    asked,
    visit,
    page,
    startedMs,
    outcome: navigated.outcome,
    error: navigated.error ?? "",
    loadMs: navigated.loadMs ?? null,
    clockMs: clockMs ?? null,
    documentProtocol: navigated.documentProtocol ?? "",
    resourceBytes: navigated.resourceBytes ?? null,
    longestTaskMs,
    reportedLoadMs: report?.loadMs ?? null,
    reportedSent: sum(({ packetsSent }) => packetsSent),
    reportedLost: sum(({ packetsLost }) => packetsLost),
    reportBytes: body === undefined ? null : Buffer.byteLength(body),
    pathDown: down,
    // Data goes down. What is dropped on the way up is nothing but acknowledgements, and a queue of 1.5 MB does not drop those.
    pathDropped: droppedLoss + droppedQueue,
    busyRatio: Number.isFinite(busyRatio) ? busyRatio : null,
    lateRatio: Number.isFinite(lateRatio) ? lateRatio : null,
  });
}

/** @throws if the worker would not take it */
function reportOf(body: string): PageReport {
  const parsed = parsePageReport(JSON.parse(body));
  if (!parsed.ok) throw new Error(`A report has faults: ${JSON.stringify(parsed.faults)}`);
  return parsed.value;
}
