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
  /** A token bucket in the same place: its rate, and what it holds. */
  readonly udpRateMbps?: number | undefined;
  readonly udpBurstBytes?: number | undefined;
  /** The largest IP packet of UDP that passes. */
  readonly udpMaxBytes?: number | undefined;
  readonly queueBytes?: number;
  /** What waits for the bottleneck: in one line, or by flow as RFC 8290 has it. */
  readonly queue?: "fq_codel" | undefined;
}

/** What a path is from a time on. */
export interface PathStep {
  /** Since the configuration was set; 0 in the first step. */
  readonly atMs: number;
  /** From the client to the server. */
  readonly aToB: Direction;
  /** From the server to the client: the data's direction. */
  readonly bToA: Direction;
}

export interface PathConfig {
  readonly seed: number;
  readonly steps: readonly PathStep[];
  /** After which it begins anew. */
  readonly repeatMs?: number | undefined;
}

/** The path's device, in either namespace. */
export const DEVICE = "netpath";

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
  stats(): Promise<PathStats>;
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
  const command = [NETPATH_PROGRAM, "-control", control, "-a", ends.client, "-b", ends.server] as const;
  const { failed } = await startServer("netpath", command, stack);
  for (const [namespace, address, route] of [
    [ends.client, ends.clientAddress, `${ends.serverAddress}/32`],
    [ends.server, ends.serverAddress, ends.clientNetwork],
  ] as const) {
    await shell("ip", "-n", namespace, "address", "add", `${address}/32`, "dev", DEVICE);
    await shell("ip", "-n", namespace, "route", "add", route, "dev", DEVICE);
  }
  // One JSON object a line each way; answers come in the order of the questions.
  const socket = connect(control);
  await once(socket, "connect");
  stack.defer(() => {
    socket.destroy();
  });
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const ask = async (question: object): Promise<Answer> => {
    socket.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new UserError("netpath ended while it was asked.");
    return JSON.parse(value) as Answer;
  };
  return {
    control,
    failed,
    set: async (config) => {
      const { ok, error } = await ask({ set: config });
      if (!ok) throw new UserError(`The network could not be set: ${error ?? "netpath gave no reason"}.`);
    },
    stats: async () => {
      const { stats, error } = await ask({ stats: true });
      if (stats === undefined) throw new UserError(`netpath gave no counters: ${error}.`);
      return stats;
    },
  };
}

/** As netpath tells of them; packets, unless the name says otherwise. */
export type PathStats = Readonly<Record<"aToB" | "bToA", DirectionStats>>;

interface DirectionStats {
  readonly forwardedPackets: number;
  /** Of those, over 1 ms after they were due. */
  readonly latePackets: number;
  /** For want of room at the bottleneck. */
  readonly droppedQueue: number;
  /** What waits at the bottleneck at the moment. */
  readonly waitingBytes: number;
  readonly droppedDevice: number;
  readonly droppedMemory: number;
  readonly droppedWrite: number;
}

/** Packets of a direction that netpath lost by its own fault: it was too slow, or its memory full. */
export function faultsOf({ droppedDevice, droppedMemory, droppedWrite }: DirectionStats): number {
  return droppedDevice + droppedMemory + droppedWrite;
}

/** The share of the packets, over both directions, that left late between two readings; NaN where none left. */
export function lateBetween(before: PathStats, after: PathStats): number {
  const counted = (name: keyof DirectionStats): number =>
    after.aToB[name] - before.aToB[name] + after.bToA[name] - before.bToA[name];
  return counted("latePackets") / counted("forwardedPackets");
}
