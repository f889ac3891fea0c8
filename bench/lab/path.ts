import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { UserError } from "../../base/user-error.ts";
import { NETPATH_PROGRAM } from "./programs.ts";
import { shell, startServer } from "./shell.ts";

/** One direction of an emulated path. What is left out is unlimited, or none. */
export interface Direction {
  readonly rateMbps?: number;
  /** One way. */
  readonly delayMs?: number;
  readonly jitterMs?: number | undefined;
  readonly lossRatio?: number;
  /** Of UDP alone, before the queue: a network that polices it. */
  readonly udpLossRatio?: number | undefined;
  readonly queueBytes?: number;
}

export interface PathConfig {
  readonly seed: number;
  /** From the client to the server. */
  readonly aToB: Direction;
  /** From the server to the client: the data's direction. */
  readonly bToA: Direction;
  readonly profile?:
    readonly { readonly atMs: number; readonly aToB?: Direction; readonly bToA?: Direction }[] | undefined;
  readonly profileRepeatMs?: number | undefined;
}

/** The path's devices, in the namespaces of their names. */
export const CLIENT_DEVICE = "netpath-client";
export const SERVER_DEVICE = "netpath-server";

interface Answer {
  readonly ok: boolean;
  readonly error?: string;
  readonly stats?: PathStats;
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
  /** Packets that it lost by its own fault since it began, in each direction. */
  faults(): Promise<{ readonly aToB: number; readonly bToA: number }>;
}

export interface PathEnds {
  readonly client: string;
  readonly server: string;
  /** Address of the device in the client's namespace, and what the server routes to it. */
  readonly clientAddress: string;
  readonly clientNetwork: string;
  readonly serverAddress: string;
}

/** Joins two namespaces by a path without limits, until `set`. It ends with `stack`. @throws UserError */
export async function startPath(ends: PathEnds, folder: string, stack: AsyncDisposableStack): Promise<EmulatedPath> {
  const control = join(folder, `${ends.client}.sock`);
  const options = {
    control,
    a: ends.client,
    "device-a": CLIENT_DEVICE,
    b: ends.server,
    "device-b": SERVER_DEVICE,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`-${name}`, value]);
  const { failed } = await startServer("netpath", [NETPATH_PROGRAM, ...flags], stack);
  for (const [namespace, device, address, route] of [
    [ends.client, CLIENT_DEVICE, ends.clientAddress, `${ends.serverAddress}/32`],
    [ends.server, SERVER_DEVICE, ends.serverAddress, ends.clientNetwork],
  ] as const) {
    await shell("ip", "-n", namespace, "address", "add", `${address}/32`, "dev", device);
    await shell("ip", "-n", namespace, "route", "add", route, "dev", device);
  }
  // One JSON object a line each way.
  const socket = connect(control);
  await once(socket, "connect");
  stack.defer(() => {
    socket.destroy();
  });
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const askNow = async (question: object): Promise<Answer> => {
    socket.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new UserError("netpath ended while it was asked.");
    return JSON.parse(value) as Answer;
  };
  // The next question waits for the answer to the last.
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: object): Promise<Answer> => {
    const answer = last.then(() => askNow(question));
    last = answer.catch(() => undefined);
    return answer;
  };
  const stats = async (): Promise<PathStats> => {
    const answer = await ask({ stats: true });
    if (answer.stats === undefined) throw new UserError(`netpath gave no counters: ${answer.error}.`);
    return answer.stats;
  };
  return {
    control,
    failed,
    set: async (config) => {
      const { ok, error } = await ask({ set: config });
      if (!ok) throw new UserError(`The network could not be set: ${error ?? "netpath gave no reason"}.`);
    },
    counters: async () => countersOf(await stats()),
    faults: async () => faultsOf(await stats()),
  };
}

/** What the emulated path counted since it began, in packets. */
export interface PathCounters {
  readonly forwarded: number;
  /** Of those, over 1 ms after they were due. */
  readonly late: number;
}

/** As netpath tells of them. */
export interface PathStats {
  readonly aToB: DirectionStats;
  readonly bToA: DirectionStats;
}

interface DirectionStats {
  readonly forwardedPackets: number;
  readonly latePackets: number;
  /** Dropped by netpath's own fault. */
  readonly droppedDevice: number;
  readonly droppedMemory: number;
  readonly droppedWrite: number;
}

/** Of both directions. */
export function countersOf({ aToB: up, bToA: down }: PathStats): PathCounters {
  return {
    forwarded: up.forwardedPackets + down.forwardedPackets,
    late: up.latePackets + down.latePackets,
  };
}

/** Packets that netpath lost by its own fault: it was too slow, or its memory full. */
export function faultsOf({ aToB, bToA }: PathStats): { readonly aToB: number; readonly bToA: number } {
  const sum = ({ droppedDevice, droppedMemory, droppedWrite }: DirectionStats): number =>
    droppedDevice + droppedMemory + droppedWrite;
  return { aToB: sum(aToB), bToA: sum(bToA) };
}

/** What was counted between two readings. */
export function countedBetween(before: PathCounters, after: PathCounters): PathCounters {
  return { forwarded: after.forwarded - before.forwarded, late: after.late - before.late };
}
