import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { startProgram } from "../../infra/workerd/processes.ts";
import { NETPATH_PROGRAM } from "./programs.ts";

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
  readonly queueMs?: number;
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
  readonly faults?: readonly { readonly pointer: string; readonly message: string }[];
}

/** A path between two namespaces, made by netpath. */
export interface EmulatedPath {
  readonly control: string;
  /** Resolves with a sentence when netpath has ended. */
  readonly failed: Promise<string>;
  /** Changes the path, and begins its draws anew from the seed. @throws UserError naming every bad field */
  set(config: PathConfig): Promise<void>;
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
      ["-address-a", `${ends.clientAddress}/32`, "-route-a", `${ends.serverAddress}/32`],
      ["-address-b", `${ends.serverAddress}/32`, "-route-b", ends.clientNetwork],
    ].flat(),
    onLine: () => ready.resolve(undefined),
    onErrorLine: (line) => complaints.push(line),
  });
  const ended = program.ended.then((why) => [...complaints, `netpath ended by itself (${why}).`].join("\n"));
  const failure = await Promise.race([ready.promise, ended]);
  if (failure !== undefined) throw new UserError(failure);
  const connection = await openControl(control);
  return {
    control,
    failed: ended,
    set: async (config) => {
      const answer = await connection.ask({ set: config });
      if (!answer.ok)
        throw new UserError(
          (answer.faults ?? []).map(({ pointer, message }) => `The network's ${pointer} ${message}.`).join("\n") ||
            `The network could not be set: ${answer.error ?? "netpath gave no reason"}.`,
        );
    },
    stop: async () => {
      connection.close();
      await program.stop();
    },
  };
}

async function openControl(path: string): Promise<{ ask(question: object): Promise<Answer>; close(): void }> {
  const socket: Socket = connect(path);
  await once(socket, "connect");
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return {
    // One question at a time: the runner sets a path and waits.
    ask: async (question) => {
      socket.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new UserError("netpath ended while it was asked.");
      return JSON.parse(value) as Answer;
    },
    close: () => socket.destroy(),
  };
}
