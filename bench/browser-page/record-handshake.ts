import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../infra/setup/programs.ts";
import { browserPath } from "../lab/browser-site.ts";
import { startLab } from "../lab/lab.ts";
import { makeRunFolder } from "../lab/leftovers.ts";
import { HOST, launchIn } from "./browser.ts";
import { type HandshakePacket, handshakeOf, packetsOf } from "./handshake.ts";
import type { Place } from "./settings.ts";
import { visit } from "./visit.ts";

export interface RecordedHandshake {
  /** The version of the browser. */
  readonly browser: string;
  readonly packets: readonly HandshakePacket[];
}

/**
 * One QUIC handshake of a browser on a place's network, packet by packet, as the server has it: of a lab of its own, as
 * writing down costs time.
 *
 * @throws UserError where nothing was recorded
 */
export async function recordHandshake(place: Place, program: string): Promise<RecordedHandshake> {
  const folder = makeRunFolder();
  try {
    return await recordInto(folder.path, place, program);
  } finally {
    folder.remove();
  }
}

async function recordInto(qlogFolder: string, place: Place, program: string): Promise<RecordedHandshake> {
  const lab = await startLab({ arms: ["fixed-h3"], lanes: 1, qlogFolder });
  const stack = new AsyncDisposableStack();
  let version = "";
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
    version = browser.version();
    const url = `https://${HOST}:${port}${browserPath("document")}`;
    await visit(browser, url, { pausesMs: [], onNavigation: (work) => work() });
  } finally {
    // The browser's end closes the connection, and the edge's closes its file.
    await stack.disposeAsync();
  }
  const whole = readdirSync(qlogFolder)
    .filter((file) => file.endsWith(".sqlog"))
    .map((file) => packetsOf(readFileSync(join(qlogFolder, file), "utf8")))
    .find((own) => own.some(({ frames }) => frames.includes("HANDSHAKE_DONE")));
  if (whole === undefined)
    throw new UserError(
      "No QUIC handshake was recorded: the edge wrote no qlog of a whole one. Try the same command again.",
    );
  return { browser: version, packets: handshakeOf(whole) };
}
