import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { UserError } from "../../../base/user-error.ts";
import { browserPath } from "../../model/browser-pages.ts";
import { startLab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { makeRunFolder } from "../../lab/leftovers.ts";
import { HOST, launchIn } from "./browser.ts";
import { handshakeOf, type HandshakePacket, packetsOf } from "./handshake.ts";
import { eventsOf } from "./qlog.ts";
import { type Place, placeId } from "./settings.ts";
import { type SlowStart, slowStartOf } from "./slow-start.ts";
import { visit } from "./visit.ts";

/** What the server's qlog tells of a browser's connections on one network, each of which loads a page over HTTP/3. */
export interface RecordedConnections {
  readonly place: string;
  /** The handshake of one of them, packet by packet. */
  readonly packets: readonly HandshakePacket[];
  /** By how many browsers loaded pages at the same time, on cores that they share. */
  readonly slowStarts: readonly { readonly browsers: number; readonly connections: readonly SlowStart[] }[];
}

/** Browsers that load at the same time, and how many pages each. */
export type Crowd = readonly [browsers: number, visits: number];

export interface RecordOptions {
  readonly place: Place;
  /** The browser's. */
  readonly program: string;
  readonly crowds: readonly Crowd[];
  readonly signal: AbortSignal;
}

/**
 * Records connections of browsers on a place's network, in a lab of its own, as writing down costs time.
 *
 * @returns undefined where it was interrupted
 * @throws UserError where a page was not loaded, or no whole handshake was recorded
 */
export async function recordConnections(
  options: RecordOptions,
): Promise<{ browser: string; connections: RecordedConnections } | undefined> {
  const folder = makeRunFolder();
  try {
    return await recordInto(folder.path, options);
  } finally {
    folder.remove();
  }
}

async function recordInto(qlogFolder: string, { place, program, crowds, signal }: RecordOptions) {
  const lanes = Math.max(...crowds.map(([browsers]) => browsers));
  const lab = await startLab({ arms: ["fixed-h3"], lanes, qlogFolder });
  const stack = new AsyncDisposableStack();
  stack.defer(() => lab.stop());
  const files: string[][] = [];
  let version = "";
  try {
    const loads = await Promise.all(
      lab.lanes.map(async (lane) => {
        const { rateMbps, delayMs, queueBytes } = place.network;
        const direction = { rateMbps, delayMs, queueBytes };
        await lane.path.set({ seed: 1, aToB: direction, bToA: direction });
        const { port, address, spkiSha256 } = lane.origin("fixed-h3", place.congestion);
        const options = { program, folder: lab.folder, stack, address, spkiSha256, forcedPorts: [port] };
        const browser = await launchIn(lane, options);
        version = browser.version();
        const url = `https://${HOST}:${port}${browserPath("page")}`;
        return () => loadIn(lane, browser, url);
      }),
    );
    for (const [browsers, visits] of crowds) {
      const before = new Set(readdirSync(qlogFolder));
      await Promise.all(
        loads.slice(0, browsers).map(async (load) => {
          for (let i = 0; i < visits && !signal.aborted; i++) await load();
        }),
      );
      files.push(readdirSync(qlogFolder).filter((file) => !before.has(file)));
    }
  } finally {
    // The browser's end closes the connection, and the edge's closes its file.
    await stack.disposeAsync();
  }
  if (signal.aborted) return undefined;
  const told = files.map((own) =>
    own.map((file) => {
      const events = eventsOf(readFileSync(join(qlogFolder, file), "utf8"));
      return { packets: handshakeOf(packetsOf(events)), slowStart: slowStartOf(events) };
    }),
  );
  const whole = told.flat().find(({ packets }) => packets.some(({ frames }) => frames.includes("HANDSHAKE_DONE")));
  if (whole === undefined)
    throw new UserError(
      "No QUIC handshake was recorded: the edge wrote no qlog of a whole one. Try the same command again.",
    );
  const slowStarts = crowds.map(([browsers], index) => ({
    browsers,
    connections: (told[index] ?? []).map(({ slowStart }) => slowStart),
  }));
  return { browser: version, connections: { place: placeId(place), packets: whole.packets, slowStarts } };
}

/** From an address that the server has not seen. @throws UserError where the page was not loaded */
async function loadIn(lane: Lane, browser: Browser, url: string): Promise<void> {
  await lane.setClientAddress(lane.freshClient());
  const [navigated] = await visit(browser, url, { pausesMs: [], onNavigation: (work) => work() });
  if (navigated?.timing === undefined)
    throw new UserError(
      `A page was not loaded (${navigated?.error ?? "no answer"}). The rows are kept: the same command goes on.`,
    );
}
