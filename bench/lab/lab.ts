import { join } from "node:path";
import { activatePolicy } from "../../infra/workerd/policy-client.ts";
import { startWorkerd, type Workerd } from "../../infra/workerd/workerd.ts";
import type { Arm } from "../model/arm.ts";
import { type Congestion, CONGESTIONS } from "../model/congestion.ts";
import { policyOf } from "./arm-policy.ts";
import { type Cubic, holdCubic } from "./cubic.ts";
import { type ArmSystem, type Lane, type LaneOptions, startLane } from "./lane.ts";
import { makeRunFolder, removeLeftovers, removeOwnNamespaces } from "./leftovers.ts";
import { startOrigin } from "./origin-process.ts";
import { type PostedSample, startSampleTee } from "./tee.ts";

const TOKEN = "token-of-a-bench";

/** The real system of each arm, and lanes that lead to all of them. */
export interface Lab {
  readonly lanes: readonly Lane[];
  /** A folder that goes with the lab. */
  readonly folder: string;
  /** Resolves with a sentence when a program of the lab has ended. */
  readonly failed: Promise<string>;
  /** Undefined unless asked for. */
  readonly cubic: Cubic | undefined;
  /** Readings of every edge, as it posts them. */
  onSample(listener: (sample: PostedSample) => void): void;
  stop(): Promise<void>;
}

export interface LabOptions extends LaneOptions {
  readonly arms: readonly Arm[];
  readonly lanes: number;
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
  const onSample = (sample: PostedSample): void => {
    for (const listener of listeners) listener(sample);
  };
  try {
    const { path: folder, remove } = makeRunFolder();
    stack.defer(remove);
    stack.defer(removeOwnNamespaces);
    const cubic = options.setsCubic === true ? await holdCubic(stack) : undefined;
    const origin = await startOrigin(join(folder, "origin.sock"), stack, failure.resolve);
    const startSystem = async (arm: Arm, congestions: readonly Congestion[], policy: object | undefined) => {
      const name = `${arm}-${congestions.join("-")}`;
      const worker =
        policy === undefined ? undefined : await startWorker(join(folder, name), origin.url, policy, stack);
      void worker?.failed.then(failure.resolve);
      const tee = await startSampleTee(join(folder, `${name}.tee`), worker?.samplesSocket, onSample);
      stack.defer(() => tee.stop());
      const upstream = `unix:${worker?.visitorsSocket ?? origin.socket}`;
      systems.push({ arm, congestions, upstream, samples: `unix:${tee.socket}` });
    };
    const systems: ArmSystem[] = [];
    for (const arm of options.arms) {
      const told = CONGESTIONS.map((name) => ({ name, policy: policyOf(arm, name, options.quic ?? "quic-go") }));
      // Congestion controls with the same policy share a system.
      for (const same of Map.groupBy(told, ({ policy }) => JSON.stringify(policy)).values()) {
        const congestions = same.map(({ name }) => name);
        await startSystem(arm, congestions, same[0]?.policy);
      }
    }
    const lanes: Lane[] = [];
    for (let index = 0; index < options.lanes; index++)
      lanes.push(await startLane(index, systems, folder, options, stack, failure.resolve));
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

/** Starts workerd with this project's worker and a policy. @throws UserError */
async function startWorker(
  stateDir: string,
  origin: string,
  policy: object,
  stack: AsyncDisposableStack,
): Promise<Workerd> {
  const workerd = await startWorkerd({ stateDir, origin, token: TOKEN, onErrorLine: () => undefined });
  stack.defer(() => workerd.stop());
  await activatePolicy(workerd.visitorsSocket, TOKEN, policy);
  return workerd;
}
