import { join } from "node:path";
import { buildClock, type Clock } from "../../infra/faults/clock.ts";
import { writeCloudflareConfig } from "../../infra/workerd/as-cloudflare.ts";
import { type Arm, ARM_SETUPS } from "../model/arm.ts";
import { BROWSER_PREFIX, FILES_HOST } from "../model/browser-pages.ts";
import { CONGESTIONS } from "../model/congestion.ts";
import { policyOf } from "./arm-policy.ts";
import { type Cubic, holdCubic } from "./cubic.ts";
import { type ArmSystem, type Lane, type LaneOptions, startLane } from "./lane.ts";
import { makeRunFolder, removeLeftovers, removeOwnNamespaces } from "./leftovers.ts";
import { startOrigin } from "./origin-process.ts";
import { type Started, startTogether } from "./started.ts";
import { type PostedSample, startSampleTee } from "./tee.ts";
import { startWorker, TOKEN } from "./worker.ts";

/** The real system of each arm, and lanes that lead to all of them. */
export interface Lab extends Started {
  readonly lanes: readonly Lane[];
  /** A folder that goes with the lab. */
  readonly folder: string;
  /** Undefined unless asked for. */
  readonly cubic: Cubic | undefined;
  /** The workers'. Undefined unless asked for. */
  readonly clock: Clock | undefined;
  /** The socket of the worker behind an arm, for calls of its API. */
  workerSocket(arm: Arm): string;
  /** Readings of every edge, as it posts them. */
  onSample(listener: (sample: PostedSample) => void): void;
}

export interface LabOptions extends LaneOptions {
  readonly arms: readonly Arm[];
  readonly lanes: number;
  /** Whether CUBIC's parameters are to be set, which are the whole machine's. */
  readonly setsCubic?: boolean;
  /** What the workers of all arms are told, instead of what their arms say: one system of each arm serves every congestion control. */
  readonly policy?: object;
  /** Whether the workers have a clock of their own, which can be shifted. It takes a C compiler. */
  readonly shiftsClock?: boolean;
}

/** Starts workerd and the worker for each arm, an origin for all, and so many lanes. @throws UserError */
export async function startLab(options: LabOptions): Promise<Lab> {
  await removeLeftovers();
  const listeners: ((sample: PostedSample) => void)[] = [];
  const onSample = (sample: PostedSample): void => {
    for (const listener of listeners) listener(sample);
  };
  // Edges, which end first, hand their last samples to a worker that still runs.
  return startTogether(async (stack, fail) => {
    const { path: folder, remove } = makeRunFolder();
    stack.defer(remove);
    stack.defer(removeOwnNamespaces);
    const cubic = options.setsCubic === true ? await holdCubic(stack) : undefined;
    const clock = options.shiftsClock === true ? buildClock(folder) : undefined;
    const origin = await startOrigin(join(folder, "origin.sock"), stack, fail);
    const systems: ArmSystem[] = [];
    const sockets = new Map<Arm, string>();
    for (const arm of options.arms) {
      const told = CONGESTIONS.map((name) => ({
        name,
        policy: options.policy ?? policyOf(arm, name, options.quic ?? "quic-go"),
      }));
      // Congestion controls with the same policy share a system.
      for (const same of Map.groupBy(told, ({ policy }) => JSON.stringify(policy)).values()) {
        const congestions = same.map(({ name }) => name);
        const policy = same[0]?.policy;
        const name = `${arm}-${congestions.join("-")}`;
        const { asCloudflare = false, movesFiles = false } = ARM_SETUPS[arm];
        const workerd = {
          stateDir: join(folder, name),
          ...(asCloudflare ? { config: writeCloudflareConfig(folder) } : {}),
          origin: origin.url,
          token: TOKEN,
          ...(movesFiles ? { variables: { ASSETS: `https://${FILES_HOST} ${BROWSER_PREFIX}` } } : {}),
          onErrorLine: () => undefined,
          ...(clock === undefined ? {} : { runner: clock.runner }),
        };
        const worker = policy === undefined ? undefined : await startWorker(workerd, policy, stack, fail);
        if (worker !== undefined) sockets.set(arm, worker.visitorsSocket);
        const listener = asCloudflare ? undefined : worker?.samplesSocket;
        const tee = await startSampleTee(join(folder, `${name}.tee`), listener, onSample);
        stack.defer(() => tee.stop());
        const upstream = `unix:${worker?.visitorsSocket ?? origin.socket}`;
        systems.push({ arm, congestions, upstream, samples: `unix:${tee.socket}` });
      }
    }
    const lanes: Lane[] = [];
    for (let index = 0; index < options.lanes; index++)
      lanes.push(await startLane(index, systems, folder, options, stack, fail));
    const workerSocket = (arm: Arm): string => {
      const socket = sockets.get(arm);
      if (socket === undefined) throw new Error(`This lab has no worker of ${arm}.`);
      return socket;
    };
    return { lanes, folder, cubic, clock, workerSocket, onSample: (listener) => listeners.push(listener) };
  });
}
