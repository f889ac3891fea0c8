import { join } from "node:path";
import type { Arm, Quic } from "../model/arm.ts";
import { type ArmSystem, startArmSystems } from "./arm-system.ts";
import { type Cubic, holdCubic } from "./cubic.ts";
import { type Lane, startLane } from "./lane.ts";
import type { TcpBuffers } from "./namespace.ts";
import { makeRunFolder, removeLeftovers, removeOwnNamespaces } from "./leftovers.ts";
import { startOrigin } from "./origin-process.ts";
import type { PostedSample } from "./tee.ts";

/** The real system of each arm, and lanes that lead to all of them. */
export interface Lab {
  readonly lanes: readonly Lane[];
  /** A folder that goes with the lab. */
  readonly folder: string;
  /** Resolves with a sentence when a program ends that nobody stopped. */
  readonly failed: Promise<string>;
  /** Undefined unless asked for. */
  readonly cubic: Cubic | undefined;
  /** Readings of every edge, as it posts them. */
  onSample(listener: (sample: PostedSample) => void): void;
  stop(): Promise<void>;
}

export interface LabOptions {
  readonly arms: readonly Arm[];
  readonly lanes: number;
  /** Whether edges write down what their connections are at, 20 times a second. */
  readonly isTraced?: boolean;
  /** Where edges leave the qlog of every QUIC connection, if anywhere. */
  readonly qlogFolder?: string;
  /** Who serves HTTP/3 in every arm that has an edge; quic-go by default. */
  readonly quic?: Quic;
  /** Of the server's TCP; the bench's own, which are larger than Linux' by default. */
  readonly tcpBuffers?: TcpBuffers;
  /** Whether CUBIC's parameters are to be set, which are the whole machine's. */
  readonly setsCubic?: boolean;
}

/** Starts workerd and the worker for each arm, an origin for all, and so many lanes. @throws UserError */
export async function startLab(options: LabOptions): Promise<Lab> {
  await removeLeftovers();
  // Ends in the reverse order: edges hand their last samples to a worker that still runs.
  const stack = new AsyncDisposableStack();
  const failure = Promise.withResolvers<string>();
  const listeners: ((sample: PostedSample) => void)[] = [];
  const on = {
    failure: failure.resolve,
    sample: (sample: PostedSample) => {
      for (const listener of listeners) listener(sample);
    },
  };
  try {
    const { path: folder, remove } = makeRunFolder();
    stack.defer(remove);
    stack.defer(removeOwnNamespaces);
    const cubic = options.setsCubic === true ? await holdCubic(stack) : undefined;
    const origin = await startOrigin(join(folder, "origin.sock"), stack, on.failure);
    const systems: ArmSystem[] = [];
    const { isTraced = false, qlogFolder, quic = "quic-go", tcpBuffers } = options;
    for (const arm of options.arms) systems.push(...(await startArmSystems(arm, quic, origin, folder, stack, on)));
    const lanes: Lane[] = [];
    const settings = { folder, isTraced, qlogFolder, quic, tcpBuffers };
    for (let index = 0; index < options.lanes; index++)
      lanes.push(await startLane(index, systems, settings, stack, on.failure));
    return {
      lanes,
      folder,
      failed: failure.promise,
      cubic,
      onSample: (listener) => listeners.push(listener),
      stop: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
