import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../base/user-error.ts";
import { inLab } from "../../harness/in-lab.ts";
import { makeRunFolder } from "../../lab/leftovers.ts";
import { launchIn } from "../../lab/browser.ts";
import { handshakeOf } from "./handshake.ts";
import { measureVisit } from "./measure.ts";
import { eventsOf } from "./qlog.ts";
import { type Place, placeId } from "./settings.ts";
import { slowStartOf } from "./slow-start.ts";

/** The browser's version, and what the server's qlog tells of its connections, each of which loads a page over HTTP/3. */
export type Recorded = Awaited<ReturnType<typeof recordConnections>>;

/** Browsers that load at the same time: one alone, and as many as in the run. */
const CROWDS = [1, 3];
const QUICK_CROWDS = [1, 2];
/** Pages that a crowd loads. */
const PAGES = 60;

/**
 * Records connections of browsers on a place's network, in a lab of its own, as writing down costs time.
 *
 * @throws UserError where a page was not loaded, or no whole handshake was recorded
 */
export async function recordConnections({ network, congestion }: Place, quick: boolean, signal: AbortSignal) {
  const place: Place = { network, congestion, pages: [], arms: [], visits: 0, pausesMs: [], isAlone: true };
  const crowds = quick ? QUICK_CROWDS : CROWDS;
  const { path: qlogFolder, remove } = makeRunFolder();
  const qlogs = (): string[] => readdirSync(qlogFolder).filter((name) => name.endsWith(".sqlog"));
  const filesOf: string[][] = [];
  let version = "";
  try {
    await inLab({ arms: ["fixed-h3"], lanes: Math.max(...crowds), qlogFolder }, signal, async (lab, _, told) => {
      const stack = new AsyncDisposableStack();
      try {
        const loads = await Promise.all(
          lab.lanes.map(async (lane) => {
            const origin = lane.origin("fixed-h3", congestion);
            const browser = await launchIn(lane, origin, [origin.port], lab.folder, stack);
            version = browser.version();
            return async (visit: number): Promise<void> => {
              const id = `recorded/${visit}`;
              const options = { place, lane, browser, seed: 1 };
              const [row] = await measureVisit({ id, page: "page", arm: "fixed-h3", visit }, options);
              if (row?.outcome !== "ok")
                throw new UserError(`A page was not loaded (${row?.error}): the same command goes on.`);
            };
          }),
        );
        for (const browsers of crowds) {
          const visits = quick ? 1 : PAGES / browsers;
          const before = new Set(qlogs());
          const loadAll = async (load: (visit: number) => Promise<void>): Promise<void> => {
            for (let visit = 0; visit < visits && !told.aborted; visit++) await load(visit);
          };
          await Promise.all(loads.slice(0, browsers).map(loadAll));
          filesOf.push(qlogs().filter((name) => !before.has(name)));
        }
      } finally {
        // The browsers' end closes the connections, and the edge's closes its files.
        await stack.disposeAsync();
      }
    });
    signal.throwIfAborted();
    const told = filesOf.map((names) => names.map((name) => eventsOf(readFileSync(join(qlogFolder, name), "utf8"))));
    const handshakes = told.flat().map((events) => handshakeOf(events));
    // One of them, packet by packet.
    const packets = handshakes.find(({ length }) => length > 0);
    if (packets === undefined)
      throw new UserError(
        "No QUIC handshake was recorded: the edge wrote no qlog of a whole one. Try the same command again.",
      );
    const slowStarts = crowds.map((browsers, i) => ({ browsers, connections: (told[i] ?? []).map(slowStartOf) }));
    return { browser: version, connections: { place: placeId(place), packets, slowStarts } };
  } finally {
    remove();
  }
}
