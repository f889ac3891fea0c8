import { dirname, join } from "node:path";
import { type Edge, type EdgeOptions, startEdge } from "./edge.ts";
import { supervise } from "./supervise.ts";
import { startWorkerd, type Workerd, type WorkerdOptions } from "./workerd.ts";

/** Options of the whole system on this machine: workerd with the worker and its objects, and the TLS edge in front. */
export interface SystemOptions extends WorkerdOptions {
  /** The path of the built edge. */
  readonly edgeProgram: string;
  /** Where the edge listens: ADDRESS[,congestion=..][,http3=off], one or more. */
  readonly listen: readonly string[];
  readonly edgeFlags?: readonly string[];
  /** Where the objects and the marker are. By default in `stateDir`, beside the certificate. */
  readonly storeDir?: string;
}

export interface System {
  /** The addresses on which the edge listens, `host:port`. */
  readonly addresses: readonly string[];
  /** The congestion control of each address's TCP when the edge first started, in the same order. */
  readonly congestion: readonly string[];
  /** SHA-256 of the certificate's public key, base64, the form that Chromium takes. */
  readonly spkiSha256: string;
  readonly workerd: Workerd;
  /** The Unix socket on which the edge answers `GET /health`. */
  readonly healthSocket: string;
  /** The id of the edge's current process. */
  edgePid(): number;
  /** Resolves with a sentence when a program ends by itself and `onRestart` is not set. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** Starts workerd and the edge, and returns when both accept connections. @throws UserError */
export async function startSystem(options: SystemOptions): Promise<System> {
  const workerd = await startWorkerd({ ...options, stateDir: options.storeDir ?? options.stateDir });
  try {
    return await startBefore(workerd, options);
  } catch (error) {
    await workerd.stop();
    throw error;
  }
}

/** Starts the edge in front of a running workerd. @throws UserError */
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
  const { addresses, congestion, spkiSha256 } = edge;
  const restart = async (): Promise<Edge["program"]> => {
    edge = await startEdge({ ...edgeOptions, listen: pinned(options.listen, addresses) });
    return edge.program;
  };
  const supervision =
    onRestart === undefined ? undefined : supervise({ name: "The edge", start: restart, say: onRestart }, edge.program);
  let stopping = false;
  const ended = edge.program.ended.then((why) =>
    // During stop() the edge is expected to end.
    stopping || supervision !== undefined ? new Promise<never>(() => undefined) : `The edge ended by itself (${why}).`,
  );
  return {
    addresses,
    congestion,
    spkiSha256,
    workerd,
    healthSocket,
    edgePid: () => edge.program.pid,
    failed: Promise.race([workerd.failed, ended]),
    stop: async () => {
      stopping = true;
      // Stop the edge first: workerd still has to take its last samples.
      await (supervision ?? edge.program).stop();
      await workerd.stop();
    },
  };
}

/** Replaces port 0 by the port that the edge got at first, so that a restarted edge listens on the same port. */
function pinned(listen: readonly string[], addresses: readonly string[]): readonly string[] {
  const ports = [...new Set(addresses.map((address) => address.slice(address.lastIndexOf(":") + 1)))];
  return listen.map((flag, i) => flag.replace(/:0(?=,|$)/, `:${ports[i] ?? "0"}`));
}
