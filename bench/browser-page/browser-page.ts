import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../infra/setup/build.ts";
import { UserError } from "../../infra/setup/programs.ts";
import { type Lab, startLab } from "../lab/lab.ts";
import type { Lane } from "../lab/lane.ts";
import { buildLab } from "../lab/programs.ts";
import { onInterruption } from "../run/interruption.ts";
import { machine } from "../run/machine.ts";
import { startProgress } from "../run/progress.ts";
import { openRunFolder, type RunFolder } from "../run/run-folder.ts";
import { launchIn, requireBrowser } from "./browser.ts";
import type { HandshakePacket } from "./handshake.ts";
import { type Browsers, measureVisit } from "./measure.ts";
import { type BrowserPageOptions, readBrowserPageOptions } from "./options.ts";
import { recordHandshake } from "./record-handshake.ts";
import { browserReport } from "./report.ts";
import { BROWSER_COLUMNS, type BrowserRow } from "./row.ts";
import { missingVisits, type Visit } from "./schedule.ts";
import { type Place, placeId, placesOf } from "./settings.ts";
import { type BrowserSummary, groupsOf } from "./summary.ts";

/** What is known once all was measured; with it the report can be made again. */
const MADE_FILE = "handshake.json";

interface Made {
  readonly browser: string;
  readonly machine: BrowserSummary["machine"];
  readonly handshake: BrowserSummary["handshake"];
}

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
  const folder = openRunFolder(path, asked, BROWSER_COLUMNS, options.fresh);
  try {
    const made =
      (await madeBefore(path, places, folder, options)) ?? (await measureAll(places, folder, options, signal));
    if (made === undefined) {
      console.error(`Interrupted. ${folder.rows.length} rows are kept: the same command goes on.`);
      process.exitCode = 130;
      return;
    }
    folder.write(MADE_FILE, `${JSON.stringify(made, undefined, 2)}\n`);
    const summary: BrowserSummary = {
      command: ["npm run bench -- browser-page", ...args.filter((arg) => arg !== "--fresh")].join(" "),
      day: new Date(Math.max(...folder.rows.map(({ startedMs }) => startedMs))).toISOString().slice(0, 10),
      seed: options.seed,
      ...made,
      places,
      rows: folder.rows.length,
      // A run that was killed between two rows of a visit has made it again.
      groups: groupsOf(places, [...new Map(folder.rows.map((row) => [row.id, row])).values()], options.seed),
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

/** Where nothing is left to measure: what the last start found out beside the rows. */
async function madeBefore(
  path: string,
  places: readonly Place[],
  { rows }: RunFolder<BrowserRow>,
  { seed }: BrowserPageOptions,
): Promise<Made | undefined> {
  const file = join(path, MADE_FILE);
  const isDone = places.every((place) => missingVisits(place, rows, seed).length === 0);
  return isDone && existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Made) : undefined;
}

async function measureAll(
  places: readonly Place[],
  folder: RunFolder<BrowserRow>,
  { seed }: BrowserPageOptions,
  interrupted: AbortSignal,
): Promise<Made | undefined> {
  const program = requireBrowser();
  await buildLab();
  if (interrupted.aborted) return undefined;
  console.error(`${folder.rows.length > 0 ? "Going on with" : "Measuring"} browser-page, into ${folder.path}.`);
  const together = places.filter(({ isAlone }) => !isAlone);
  const arms = [...new Set(places.flatMap((place) => place.arms))];
  const lab = await startLab({ arms, lanes: Math.max(1, together.length) });
  const stack = new AsyncDisposableStack();
  stack.defer(() => lab.stop());
  const broken = new AbortController();
  void lab.failed.then((why) => broken.abort(why));
  const signal = AbortSignal.any([interrupted, broken.signal]);
  const progress = startProgress(shareOf(places, folder.rows));
  let version = "";
  const measurePlace = async (place: Place, lane: Lane): Promise<void> => {
    const own = new AsyncDisposableStack();
    try {
      const browsers = await launchBoth(place, lane, lab, program, own);
      version = browsers.plain.version();
      for (const visit of missingVisits(place, folder.rows, seed)) {
        if (signal.aborted) return;
        await measureOne(visit, place, lane, browsers);
      }
    } finally {
      await own.disposeAsync();
    }
  };
  const measureOne = async (visit: Visit, place: Place, lane: Lane, browsers: Browsers): Promise<void> => {
    const rows = await measureVisit(visit, { place, lane, browsers, seed });
    // What fails as the system under it is being stopped is no result.
    if (signal.aborted) return;
    for (const row of rows) folder.append(row);
    progress.show(shareOf(places, folder.rows), `${folder.rows.length} rows, now ${placeId(place)}`);
  };
  try {
    const [first] = lab.lanes;
    if (first === undefined) throw new Error("A lab has a lane.");
    for (const place of places.filter(({ isAlone }) => isAlone)) await measurePlace(place, first);
    await Promise.all(together.map((place, index) => measurePlace(place, lab.lanes[index] ?? first)));
    if (broken.signal.aborted) throw new UserError(String(broken.signal.reason));
  } finally {
    progress.end();
    await stack.disposeAsync();
  }
  if (interrupted.aborted) return undefined;
  return { browser: version, machine: machine(), handshake: await handshakeOn(places, program) };
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
async function handshakeOn(
  places: readonly Place[],
  program: string,
): Promise<{ place: string; packets: readonly HandshakePacket[] }> {
  const place = places.toSorted((one, other) => other.network.delayMs - one.network.delayMs)[0];
  if (place === undefined) throw new Error("There is a place.");
  return { place: placeId(place), packets: await recordHandshake(place, program) };
}

function shareOf(places: readonly Place[], rows: readonly BrowserRow[]): number {
  const all = places.reduce(
    (sum, { pages, arms, visits, pausesMs }) => sum + pages.length * arms.length * visits * (pausesMs.length + 1),
    0,
  );
  return rows.length / all;
}
