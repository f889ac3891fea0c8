import { startEdge } from "./edge.ts";
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
  /** Resolves with a sentence when a program ends that nobody stopped. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** Starts workerd and the edge, and returns when both take connections. @throws UserError */
export async function startSystem(options: SystemOptions): Promise<System> {
  const workerd = await startWorkerd(options);
  try {
    const {
      program: edge,
      addresses,
      spkiSha256,
    } = await startEdge({
      program: options.edgeProgram,
      listen: options.listen,
      upstream: `unix:${workerd.visitorsSocket}`,
      samples: `unix:${workerd.samplesSocket}`,
      stateDir: options.stateDir,
      flags: options.edgeFlags ?? [],
      ...(options.onErrorLine === undefined ? {} : { onErrorLine: options.onErrorLine }),
    });
    let stopping = false;
    return {
      addresses,
      spkiSha256,
      workerd,
      failed: Promise.race([
        workerd.failed,
        // While it is being stopped it may end.
        edge.ended.then((why) =>
          stopping ? new Promise<never>(() => undefined) : `The edge ended by itself (${why}).`,
        ),
      ]),
      stop: async () => {
        stopping = true;
        // The edge first: its last samples want somebody to take them.
        await edge.stop();
        await workerd.stop();
      },
    };
  } catch (error) {
    await workerd.stop();
    throw error;
  }
}
