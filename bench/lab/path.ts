import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { startProgram } from "../../infra/workerd/processes.ts";
import { openControl } from "./netpath-control.ts";
import { faultsIn, parsePath, type PathCounters } from "./path-counters.ts";
import { NETPATH_PROGRAM } from "./programs.ts";
import { shell } from "./shell.ts";

/** One direction of an emulated path. What is left out is unlimited, or none. */
export interface Direction {
  readonly rateMbps?: number;
  /** One way. */
  readonly delayMs?: number;
  readonly jitterMs?: number;
  readonly lossRatio?: number;
  readonly burstLoss?: {
    readonly goodToBad: number;
    readonly badToGood: number;
    readonly lossGood: number;
    readonly lossBad: number;
  };
  readonly queueBytes?: number;
}

export interface PathConfig {
  readonly seed: number;
  /** From the client to the server. */
  readonly aToB: Direction;
  /** From the server to the client: the data's direction. */
  readonly bToA: Direction;
  readonly profile?: readonly { readonly atMs: number; readonly aToB?: Direction; readonly bToA?: Direction }[];
  readonly profileRepeatMs?: number;
}

/** The path's devices, in the namespaces of their names. */
export const CLIENT_DEVICE = "netpath-client";
export const SERVER_DEVICE = "netpath-server";

interface Answer {
  readonly ok: boolean;
  readonly error?: string;
}

/** A path between two namespaces, made by netpath. */
export interface EmulatedPath {
  readonly control: string;
  /** Resolves with a sentence when netpath has ended. */
  readonly failed: Promise<string>;
  /** Changes the path, and begins its draws anew from the seed. @throws UserError naming every bad field */
  set(config: PathConfig): Promise<void>;
  /** What it counted since it began. */
  counters(): Promise<PathCounters>;
  /** Packets that it lost by its own fault since it began, in each direction: it was too slow, or its memory full. */
  faults(): Promise<{ readonly aToB: number; readonly bToA: number }>;
  stop(): Promise<void>;
}

export interface PathEnds {
  readonly client: string;
  readonly server: string;
  /** Address of the device in the client's namespace, and what the server routes to it. */
  readonly clientAddress: string;
  readonly clientNetwork: string;
  readonly serverAddress: string;
}

/** Joins two namespaces by a path without limits, until `set`. @throws UserError */
export async function startPath(ends: PathEnds, folder: string): Promise<EmulatedPath> {
  const control = join(folder, `${ends.client}.sock`);
  const complaints: string[] = [];
  const ready = Promise.withResolvers<undefined>();
  const program = startProgram(NETPATH_PROGRAM, {
    args: [
      ["-a", ends.client, "-b", ends.server, "-control", control],
      ["-device-a", CLIENT_DEVICE, "-device-b", SERVER_DEVICE],
    ].flat(),
    onLine: () => ready.resolve(undefined),
    onErrorLine: (line) => complaints.push(line),
  });
  const ended = program.ended.then((why) => [...complaints, `netpath ended by itself (${why}).`].join("\n"));
  const failure = await Promise.race([ready.promise, ended]);
  if (failure !== undefined) throw new UserError(failure);
  for (const [namespace, device, address, route] of [
    [ends.client, CLIENT_DEVICE, ends.clientAddress, `${ends.serverAddress}/32`],
    [ends.server, SERVER_DEVICE, ends.serverAddress, ends.clientNetwork],
  ] as const) {
    await shell("ip", "-n", namespace, "address", "add", `${address}/32`, "dev", device);
    await shell("ip", "-n", namespace, "route", "add", route, "dev", device);
  }
  const connection = await openControl(control);
  return {
    control,
    failed: ended,
    set: async (config) => {
      const answer = JSON.parse(await connection.ask({ set: config })) as Answer;
      if (!answer.ok) throw new UserError(`The network could not be set: ${answer.error ?? "netpath gave no reason"}.`);
    },
    counters: async () => parsePath(await connection.ask({ stats: true })),
    faults: async () => faultsIn(await connection.ask({ stats: true })),
    stop: async () => {
      connection.close();
      await program.stop();
    },
  };
}
