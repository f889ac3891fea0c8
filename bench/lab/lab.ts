import { join } from "node:path";
import type { Arm } from "../experiments/arms.ts";
import { type ArmSystem, startArmSystems } from "./arm-system.ts";
import { type CubicBeta, holdCubicBeta } from "./cubic-beta.ts";
import { type Lane, startLane } from "./lane.ts";
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
  readonly cubicBeta: CubicBeta | undefined;
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
  /** Whether CUBIC's beta is to be set, which is the whole machine's. */
  readonly setsCubicBeta?: boolean;
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
    const cubicBeta = options.setsCubicBeta === true ? await holdCubicBeta(stack) : undefined;
    const origin = await startOrigin(join(folder, "origin.sock"), stack, on.failure);
    const systems: ArmSystem[] = [];
    for (const arm of options.arms) systems.push(...(await startArmSystems(arm, origin, folder, stack, on)));
    const lanes: Lane[] = [];
    const files = { folder, isTraced: options.isTraced ?? false, qlogFolder: options.qlogFolder };
    for (let index = 0; index < options.lanes; index++)
      lanes.push(await startLane(index, systems, files, stack, on.failure));
    return {
      lanes,
      folder,
      failed: failure.promise,
      cubicBeta,
      onSample: (listener) => listeners.push(listener),
      stop: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
