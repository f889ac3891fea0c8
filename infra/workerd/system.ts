import { dirname, join } from "node:path";
import { type Edge, type EdgeOptions, startEdge } from "./edge.ts";
import { supervise } from "./supervise.ts";
import { startWorkerd, type Workerd, type WorkerdOptions } from "./workerd.ts";

/** The whole system on this machine: workerd with the worker and its objects, and the TLS edge in front. */
export interface SystemOptions extends WorkerdOptions {
  /** The edge's program, built. */
  readonly edgeProgram: string;
  /** For the edge: ADDRESS[,congestion=..][,http3=off]. */
  readonly listen: readonly string[];
  readonly edgeFlags?: readonly string[];
}

export interface System {
  /** Where the edge listens, `host:port`. */
  readonly addresses: readonly string[];
  /** SHA-256 of the certificate's public key, base64, as Chromium wants it. */
  readonly spkiSha256: string;
  readonly workerd: Workerd;
  /** Where the edge says how it is: `GET /health` over this Unix socket. */
  readonly healthSocket: string;
  /** Of the edge's process that runs now. */
  edgePid(): number;
  /** Resolves with a sentence when a program ends that nobody stopped, and nobody keeps it running. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** Starts workerd and the edge, and returns when both take connections. @throws UserError */
export async function startSystem(options: SystemOptions): Promise<System> {
  const workerd = await startWorkerd(options);
  try {
    return await startBefore(workerd, options);
  } catch (error) {
    await workerd.stop();
    throw error;
  }
}

/** Starts the edge before a workerd. @throws UserError */
async function startBefore(workerd: Workerd, options: SystemOptions): Promise<System> {
  // The folder of workerd's sockets: only this user can enter it.
  const healthSocket = join(dirname(workerd.visitorsSocket), "health");
  const { onErrorLine, onRestart } = options;
  const edgeOptions: EdgeOptions = {
    program: options.edgeProgram,
    listen: options.listen,
    upstream: `unix:${workerd.visitorsSocket}`,
    samples: `unix:${workerd.samplesSocket}`,
    stateDir: options.stateDir,
    flags: ["-origin", options.origin, "-health", `unix:${healthSocket}`, ...(options.edgeFlags ?? [])],
    ...(onErrorLine === undefined ? {} : { onErrorLine }),
  };
  let edge = await startEdge(edgeOptions);
  const { addresses, spkiSha256 } = edge;
  const restart = async (): Promise<Edge["program"]> => {
    edge = await startEdge({ ...edgeOptions, listen: pinned(options.listen, addresses) });
    return edge.program;
  };
  const supervision =
    onRestart === undefined ? undefined : supervise({ name: "The edge", start: restart, say: onRestart }, edge.program);
  let stopping = false;
  const ended = edge.program.ended.then((why) =>
    // While it is being stopped it may end.
    stopping || supervision !== undefined ? new Promise<never>(() => undefined) : `The edge ended by itself (${why}).`,
  );
  return {
    addresses,
    spkiSha256,
    workerd,
    healthSocket,
    edgePid: () => edge.program.pid,
    failed: Promise.race([workerd.failed, ended]),
    stop: async () => {
      stopping = true;
      // The edge first: its last samples want somebody to take them.
      await (supervision ?? edge.program).stop();
      await workerd.stop();
    },
  };
}

/** What was listened on at port 0 is listened on again at the port that it was given. */
function pinned(listen: readonly string[], addresses: readonly string[]): readonly string[] {
  const ports = [...new Set(addresses.map((address) => address.slice(address.lastIndexOf(":") + 1)))];
  return listen.map((flag, i) => flag.replace(/:0(?=,|$)/, `:${ports[i] ?? "0"}`));
}
