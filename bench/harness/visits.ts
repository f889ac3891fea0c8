import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import { integer, seededRandom } from "../analysis/statistics/random.ts";
import { type CoreWatch, startCoreWatch } from "../lab/cores.ts";
import type { LabOptions } from "../lab/lab.ts";
import type { Lane } from "../lab/lane.ts";
import { browserVersion, launchChromium, type LaneBrowser } from "../lab/browser.ts";
import { slowDevice } from "../lab/device.ts";
import { firefoxVersion, launchFirefox } from "../lab/firefox.ts";
import type { Preferences } from "../../infra/setup/firefox.ts";
import { type LoadedPage, loadPage } from "../lab/navigate.ts";
import type { Arm } from "../model/arm.ts";
import { type BrowserPage, browserPath, SITE_HOST } from "../model/browser-pages.ts";
import type { Network } from "../model/cell.ts";
import type { Congestion } from "../model/congestion.ts";
import { inLab, setNetwork } from "./in-lab.ts";
import { type Making, type Named, shareMade } from "./missing.ts";

/** What a lane makes visits with. */
export interface Visiting {
  readonly lane: Lane;
  /** Of the lab. */
  readonly folder: string;
  readonly cores: CoreWatch;
  readonly signal: AbortSignal;
  /** Ends with the lane's last visit of a phase. */
  readonly stack: AsyncDisposableStack;
}

/**
 * Makes visits, in phases. A phase holds a queue for each lane, which takes the next visit when it has made one; lanes may
 * share a queue.
 *
 * @param all of the run: what its progress is a share of
 * @param open called in a lane before its first visit of a phase; what it returns makes the lane's visits
 * @throws UserError
 */
export async function makeVisits<Visit extends Named, Row extends Named>(
  all: readonly Visit[],
  phases: readonly (readonly Visit[][])[],
  lab: Omit<LabOptions, "lanes">,
  { folder, progress, signal: stopped }: Making<Row>,
  open: (first: Visit, visiting: Visiting) => Promise<(visit: Visit) => Promise<readonly Row[]>>,
): Promise<void> {
  if (phases.flat(2).length === 0) return;
  const lanes = Math.max(...phases.map(({ length }) => length));
  await inLab({ ...lab, lanes }, stopped, async (running, _, told) => {
    const broken = new AbortController();
    const signal = AbortSignal.any([told, broken.signal]);
    const cores = startCoreWatch();
    const work = async (queue: Visit[], lane: Lane): Promise<void> => {
      const stack = new AsyncDisposableStack();
      try {
        const [first] = queue;
        if (first === undefined || signal.aborted) return;
        const measure = await open(first, { lane, folder: running.folder, cores, signal, stack });
        for (let visit = queue.shift(); visit !== undefined; visit = queue.shift()) {
          const rows = await measure(visit).catch((error: unknown) => {
            if (!signal.aborted) throw error;
            return [];
          });
          // What fails as the system under it is being stopped is no result.
          if (signal.aborted) return;
          for (const row of rows) folder.append(row);
          progress.show(shareMade(all, folder.rows), `${folder.rows.length} rows, now ${visit.id}`);
        }
      } finally {
        await stack.disposeAsync();
      }
    };
    try {
      for (const phase of phases) {
        const working = running.lanes.slice(0, phase.length).map((lane, i) => work(phase[i] ?? [], lane));
        // Where one fails the others end too, before the lab under them does.
        for (const one of working) one.catch(() => broken.abort());
        for (const ended of await Promise.allSettled(working)) if (ended.status === "rejected") throw ended.reason;
      }
    } finally {
      cores.stop();
    }
  });
}

/** What a browser loads in a visit, and where. */
export interface BrowserVisit extends Named {
  readonly place: { readonly network: Network; readonly congestion: Congestion };
  readonly arm: Arm;
  readonly page: BrowserPage;
}

/** Loads the visit's page once more, with this behind its URL's question mark. */
export type LoadAgain = (query: string) => Promise<LoadedPage>;

/** A visit's own place says which congestion control it meets: a lane's browser may make visits to several. */
export function urlOf({ place, arm, page }: BrowserVisit, lane: Pick<Lane, "origin">): string {
  return `https://${SITE_HOST}:${lane.origin(arm, place.congestion).port}${browserPath(page)}`;
}

/** The browsers that make visits. Firefox also as it will be: the preference to race QUIC against TCP is off in version 153. */
export const BROWSERS = ["chromium", "firefox", "firefox-racing"] as const;
export type BrowserName = (typeof BROWSERS)[number];

const RACING: Preferences = { "network.http.happy_eyeballs_enabled": true };

/** @throws UserError where this machine has no such browser and gets none */
export async function versionOf(browser: BrowserName): Promise<string> {
  return browser === "chromium" ? browserVersion() : firefoxVersion();
}

interface Opening {
  /** Chromium where it is left out. */
  readonly browser?: BrowserName;
  /** What it gets of a core; all that the machine has where it is left out. */
  readonly cores?: number | undefined;
  /** Chromium: arms to which it speaks QUIC from the first packet; elsewhere Alt-Svc alone decides. */
  readonly forced?: readonly Arm[];
  /** Chromium: the arm whose pages have their files at a host of their own, if any. */
  readonly files?: Arm | undefined;
}

/**
 * Starts a browser in a lane. Its visits may be to several places, unless ports are forced or files are elsewhere: those are of the
 * first one's congestion control.
 */
export async function openBrowser(
  { place: { congestion }, arm }: Pick<BrowserVisit, "place" | "arm">,
  { lane, folder, cores: watch, stack, signal }: Visiting,
  { browser: name = "chromium", cores, forced = [], files }: Opening = {},
) {
  const portOf = (one: Arm): number => lane.origin(one, congestion).port;
  const prefix = cores === undefined ? [] : slowDevice(`device-${lane.index}`, cores, stack);
  const launching = { lane, origin: lane.origin(arm, congestion), folder, prefix, stack };
  const browser =
    name === "chromium"
      ? await launchChromium(launching, {
          forcedPorts: forced.map(portOf),
          filesPort: files === undefined ? undefined : portOf(files),
        })
      : await launchFirefox(launching, name === "firefox" ? {} : RACING);
  return {
    /** A visit of one that knows nothing of the site: no connection, no Alt-Svc, no cache, an address that the server has not seen. */
    visit: async <Row>(
      visit: BrowserVisit,
      seed: number,
      work: (load: LoadAgain) => Promise<Row[]>,
      take: Take = (call) => call(),
    ): Promise<Row[]> => {
      await setNetwork(lane, visit.place.network, seed, visit.id);
      const url = urlOf(visit, lane);
      const over = new AbortController();
      let client: Awaited<ReturnType<LaneBrowser["openClient"]>> | undefined;
      try {
        const { page } = (client = await take(() => browser.openClient()));
        const load: LoadAgain = (query) => loadPage(page, `${url}?${query}`, lane, watch);
        // A page may take minutes, and whoever interrupts does not wait for it.
        return await Promise.race([work(load), endOf(signal, over.signal)]);
      } finally {
        over.abort();
        // What fails with its browser is no result.
        assertRuns(browser);
        await client?.close();
      }
    },
  };
}

/** Rejects as soon as either signal aborts. */
async function endOf(stopped: AbortSignal, over: AbortSignal): Promise<never> {
  if (!stopped.aborted) await once(stopped, "abort", { signal: over });
  throw stopped.reason;
}

/** @throws UserError where it does not */
function assertRuns(browser: LaneBrowser): void {
  if (!browser.isConnected()) throw new UserError("The browser ended by itself: the same command goes on.");
}

/** Of a page's files the share over HTTP/3; null without files. */
export function shareOverH3({ files = [] }: Pick<LoadedPage, "files">): number | null {
  return files.length === 0 ? null : files.filter((one) => one === "h3").length / files.length;
}

/**
 * Loads a visit's pages one after the other.
 *
 * @param take when a page may load: by turns, no other one loads meanwhile
 * @param before a page, from 1: waits as long as it has to, and returns what makes its row
 */
export async function loadPages<Row>(
  { load, take, pages }: { readonly load: LoadAgain; readonly take: Take; readonly pages: number },
  before: (page: number) => Promise<(seen: LoadedPage) => Row>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = 1; page <= pages; page++) {
    const rowOf = await before(page);
    rows.push(rowOf(await take(() => load(`page=${page}`))));
  }
  return rows;
}

/** Between pages, drawn: whatever the pause, what a network does to UDP has to be noticed. */
const PAUSE_MS = { least: 1_000, most: 7_000 };

/** Returns what draws the visit's pauses one after the other, milliseconds. */
export function pausesOf(visit: Named, seed: number): () => number {
  const random = seededRandom(seed, "pauses", visit.id);
  return () => PAUSE_MS.least + integer(PAUSE_MS.most - PAUSE_MS.least, random);
}

/** Before a return: browsers end a QUIC connection that has rested for 30 s. TCP's are ended from outside. */
const AWAY_MS = 35_000;

/** A visitor leaves: resolves when all connections are gone. */
export async function leave({ lane, signal }: Pick<Visiting, "lane" | "signal">, awayMs = AWAY_MS): Promise<void> {
  await lane.endTcp();
  await pause(awayMs, undefined, { signal });
}

interface Waits {
  readonly pauseMs: number;
  readonly awayMs?: number | undefined;
}

/** Waits before one of a visit's pages, from 1: the last of them is a return, when all connections are gone. */
export async function waitBefore(
  page: number,
  pages: number,
  visiting: Pick<Visiting, "lane" | "signal">,
  { pauseMs, awayMs }: Waits,
): Promise<void> {
  if (page === pages) await leave(visiting, awayMs);
  else if (page > 1) await pause(pauseMs, undefined, { signal: visiting.signal });
}

/** Calls when it may. */
type Take = Turns["take"];

/** Lets one at a time do what keeps the cores busy. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Calls when all that came before have ended, whatever became of them.
   *
   * @param mostMs so long it keeps others waiting at most
   */
  async take<T>(call: () => Promise<T>, mostMs?: number): Promise<T> {
    const before = this.#last;
    const turn = before.then(call);
    const ended = turn.catch(() => undefined);
    this.#last =
      mostMs === undefined
        ? ended
        : before.then(async () => Promise.race([ended, pause(mostMs, undefined, { ref: false })]));
    return turn;
  }
}
