import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { type Lab, startLab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { buildLab } from "../../lab/programs.ts";
import { onInterruption } from "../../harness/interruption.ts";
import { machine } from "../../harness/machine.ts";
import { startProgress } from "../../harness/progress.ts";
import { openRunFolder, type RunFolder } from "../../harness/run-folder.ts";
import { addStart } from "../../harness/starts.ts";
import { readStarts } from "../../model/recorded-run.ts";
import { launchIn, requireBrowser } from "./browser.ts";
import { type Browsers, measureVisit } from "./measure.ts";
import { type BrowserPageOptions, readBrowserPageOptions } from "./options.ts";
import { type Crowd, recordConnections } from "./record-connections.ts";
import { browserReport } from "./report.ts";
import { BROWSER_ROW, type BrowserRow } from "./row.ts";
import { missingVisits } from "./schedule.ts";
import { type Place, placeId, placesOf } from "./settings.ts";
import { type BrowserSummary, groupsOf } from "./summary.ts";

/** What is found out once all pages were loaded; with it the report can be made again. */
const CONNECTIONS_FILE = "connections.json";

/** One browser alone, and as many at a time as in the run. */
const CROWDS: readonly Crowd[] = [
  [1, 60],
  [3, 20],
];
const QUICK_CROWDS: readonly Crowd[] = [
  [1, 1],
  [2, 1],
];

type Recorded = Pick<BrowserSummary, "browser" | "connections">;

/**
 * Loads pages in a real browser over emulated paths, or goes on where it stopped, and writes the report.
 *
 * @throws UserError
 */
export async function browserPage(args: readonly string[]): Promise<void> {
  const options = readBrowserPageOptions(args);
  const places = placesOf(options.size);
  const path = resolve(options.out ?? join(ROOT, ".adaptive-h3/bench/browser-page"));
  const { signal, release } = onInterruption();
  const asked = { experiment: "browser-page", seed: options.seed, places };
  const folder = openRunFolder(path, asked, BROWSER_ROW, options.fresh);
  try {
    const isMissing = places.some((place) => missingVisits(place, folder.rows, options.seed).length > 0);
    const before = isMissing ? undefined : recordedBefore(path);
    const recorded = before ?? (await measureAll(places, folder, options, signal));
    if (recorded === undefined) {
      console.error(`Interrupted. ${folder.rows.length} rows are kept: the same command goes on.`);
      process.exitCode = 130;
      return;
    }
    folder.write(CONNECTIONS_FILE, `${JSON.stringify(recorded, undefined, 2)}\n`);
    // A run that was killed between two rows of a visit has made it again.
    const rows = [...new Map(folder.rows.map((row) => [row.id, row])).values()];
    const summary: BrowserSummary = {
      command: ["npm run bench -- browser-page", ...args.filter((arg) => arg !== "--fresh")].join(" "),
      day: new Date(Math.max(...rows.map(({ startedMs }) => startedMs))).toISOString().slice(0, 10),
      seed: options.seed,
      ...recorded,
      starts: readStarts(path),
      places,
      rows: rows.length,
      failures: rows.filter(({ outcome }) => outcome === "failed").length,
      timeouts: rows.filter(({ outcome }) => outcome === "timeout").length,
      groups: groupsOf(places, rows, options.seed),
    };
    const { markdown, pictures } = await browserReport(summary);
    folder.write("summary.json", `${JSON.stringify(summary, undefined, 2)}\n`);
    folder.write("report.md", `${markdown.trimEnd()}\n`);
    for (const { file, svg } of pictures) folder.write(file, svg);
    const files = ["report.md", "summary.json", "rows.csv", ...pictures.map(({ file }) => file)];
    console.log(`${folder.rows.length} rows. In ${relative(process.cwd(), path) || "."}: ${files.join(", ")}.`);
  } finally {
    folder.close();
    release();
  }
}

/** What an earlier start found out at its end, after its last page. */
function recordedBefore(path: string): Recorded | undefined {
  try {
    return JSON.parse(readFileSync(join(path, CONNECTIONS_FILE), "utf8")) as Recorded;
  } catch {
    // There is none, or half of one: it is recorded again.
    return undefined;
  }
}

async function measureAll(
  places: readonly Place[],
  folder: RunFolder<BrowserRow>,
  { seed, size }: BrowserPageOptions,
  interrupted: AbortSignal,
): Promise<Recorded | undefined> {
  const program = requireBrowser();
  await buildLab();
  if (interrupted.aborted) return undefined;
  const lanes = lanesOf(places);
  addStart(folder.path, { at: new Date().toISOString(), lanes, rowsBefore: folder.rows.length, machine: machine() });
  await loadPages(places, folder, { seed, program, interrupted });
  return interrupted.aborted ? undefined : recordOn(places, program, size, interrupted);
}

async function loadPages(
  places: readonly Place[],
  folder: RunFolder<BrowserRow>,
  { seed, program, interrupted }: { seed: number; program: string; interrupted: AbortSignal },
): Promise<void> {
  if (places.every((place) => missingVisits(place, folder.rows, seed).length === 0)) return;
  console.error(`${folder.rows.length > 0 ? "Going on with" : "Measuring"} browser-page, into ${folder.path}.`);
  const together = places.filter(({ isAlone }) => !isAlone);
  const arms = [...new Set(places.flatMap((place) => place.arms))];
  const lab = await startLab({ arms, lanes: lanesOf(places) });
  const broken = new AbortController();
  void lab.failed.then((why) => broken.abort(why));
  const signal = AbortSignal.any([interrupted, broken.signal]);
  const progress = startProgress(shareOf(places, folder.rows));
  const measurePlace = async (place: Place, lane: Lane | undefined): Promise<void> => {
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
    for (const place of places.filter(({ isAlone }) => isAlone)) await measurePlace(place, lab.lanes[0]);
    const ended = await Promise.allSettled(together.map((place, index) => measurePlace(place, lab.lanes[index])));
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    if (broken.signal.aborted) throw new UserError(String(broken.signal.reason));
  } finally {
    progress.end();
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
async function recordOn(
  places: readonly Place[],
  program: string,
  size: BrowserPageOptions["size"],
  signal: AbortSignal,
): Promise<Recorded | undefined> {
  const place = places.toSorted((one, other) => other.network.delayMs - one.network.delayMs)[0];
  if (place === undefined) throw new Error("There is a place.");
  return recordConnections({ place, program, crowds: size === "quick" ? QUICK_CROWDS : CROWDS, signal });
}

/** How many places are measured at the same time. */
function lanesOf(places: readonly Place[]): number {
  return Math.max(1, places.filter(({ isAlone }) => !isAlone).length);
}

function shareOf(places: readonly Place[], rows: readonly BrowserRow[]): number {
  const all = places.reduce(
    (sum, { pages, arms, visits, pausesMs }) => sum + pages.length * arms.length * visits * (pausesMs.length + 1),
    0,
  );
  return rows.length / all;
}
