import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../infra/setup/programs.ts";
import { browserPath } from "../lab/browser-site.ts";
import { startLab } from "../lab/lab.ts";
import { makeRunFolder } from "../lab/leftovers.ts";
import { HOST, launchIn } from "./browser.ts";
import { type HandshakePacket, handshakeOf, packetsOf } from "./handshake.ts";
import type { Place } from "./settings.ts";
import { visit } from "./visit.ts";

/** The last of a connection is written when it ends. */
const ENDS_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 50;

/**
 * One QUIC handshake of a browser on a place's network, packet by packet, as the server has it: of a lab of its own, as
 * writing down costs time.
 *
 * @throws UserError where nothing was recorded
 */
export async function recordHandshake(place: Place, program: string): Promise<HandshakePacket[]> {
  const folder = makeRunFolder();
  try {
    return await recordInto(folder.path, place, program);
  } finally {
    folder.remove();
  }
}

async function recordInto(qlogFolder: string, place: Place, program: string): Promise<HandshakePacket[]> {
  const lab = await startLab({ arms: ["fixed-h3"], lanes: 1, qlogFolder });
  const stack = new AsyncDisposableStack();
  stack.defer(() => lab.stop());
  try {
    const [lane] = lab.lanes;
    if (lane === undefined) throw new Error("A lab has a lane.");
    const { rateMbps, delayMs, queueBytes } = place.network;
    const direction = { rateMbps, delayMs, queueBytes };
    await lane.path.set({ seed: 1, aToB: direction, bToA: direction });
    const { port, address, spkiSha256 } = lane.origin("fixed-h3", place.congestion);
    const browser = await launchIn(lane, {
      program,
      folder: lab.folder,
      stack,
      address,
      spkiSha256,
      forcedPorts: [port],
    });
    const url = `https://${HOST}:${port}${browserPath("document")}`;
    await visit(browser, url, { pausesMs: [], onNavigation: (work) => work() });
  } finally {
    // The browser's end closes the connection, and the edge's closes its file.
    await stack.disposeAsync();
  }
  for (let waited = 0; waited < ENDS_WITHIN_MS; waited += LOOK_EVERY_MS) {
    const packets = readdirSync(qlogFolder)
      .filter((file) => file.endsWith(".sqlog"))
      .map((file) => packetsOf(readFileSync(join(qlogFolder, file), "utf8")));
    const whole = packets.find((own) => own.some(({ frames }) => frames.includes("HANDSHAKE_DONE")));
    if (whole !== undefined) return handshakeOf(whole);
    await pause(LOOK_EVERY_MS);
  }
  throw new UserError("No QUIC handshake was recorded: the edge wrote no qlog of a whole one.");
}
