import { join } from "node:path";
import { type Arm, ARM_SETUPS } from "../model/arm.ts";
import { BROWSER_PREFIX, FILES_HOST } from "../model/browser-pages.ts";
import { CONGESTIONS } from "../model/congestion.ts";
import { type Policies, policyOf, startWorker, TOKEN } from "./worker.ts";
import { type Cubic, holdCubic } from "./cubic.ts";
import { type ArmSystem, type Lane, type LaneOptions, startLane } from "./lane.ts";
import { makeRunFolder, removeLeftovers, removeOwnNamespaces } from "./leftovers.ts";
import { startOrigin } from "./origin-process.ts";
import { type Started, startTogether } from "./shell.ts";
import { type PostedSample, startSampleTee } from "./tee.ts";

/** The real system of each arm, and lanes that lead to all of them. */
export interface Lab extends Started {
  readonly lanes: readonly Lane[];
  /** A folder that goes with the lab. */
  readonly folder: string;
  /** Undefined unless asked for. */
  readonly cubic: Cubic | undefined;
  /** Readings of every edge, as it posts them. */
  onSample(listener: (sample: PostedSample) => void): void;
}

export interface LabOptions extends LaneOptions {
  readonly arms: readonly Arm[];
  readonly lanes: number;
  /** Of arms that have another policy than the shipped one. */
  readonly policies?: Policies;
  /** Whether CUBIC's parameters are to be set, which are the whole machine's. */
  readonly setsCubic?: boolean;
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
    const origin = await startOrigin(join(folder, "origin.sock"), stack, fail);
    const systems: ArmSystem[] = [];
    for (const arm of options.arms) {
      const told = CONGESTIONS.map((name) => ({
        name,
        policy: policyOf(arm, name, options.quic ?? "quic-go", options.policies),
      }));
      // Congestion controls with the same policy share a system.
      for (const same of Map.groupBy(told, ({ policy }) => JSON.stringify(policy)).values()) {
        const congestions = same.map(({ name }) => name);
        const policy = same[0]?.policy;
        const name = `${arm}-${congestions.join("-")}`;
        const { movesFiles = false } = ARM_SETUPS[arm];
        const workerd = {
          stateDir: join(folder, name),
          origin: origin.url,
          token: TOKEN,
          ...(movesFiles ? { variables: { ASSETS: `https://${FILES_HOST} ${BROWSER_PREFIX}` } } : {}),
          onErrorLine: () => undefined,
        };
        const worker = policy === undefined ? undefined : await startWorker(workerd, policy, stack, fail);
        const tee = await startSampleTee(join(folder, `${name}.tee`), worker?.samplesSocket, onSample);
        stack.defer(() => tee.stop());
        const upstream = `unix:${worker?.visitorsSocket ?? origin.socket}`;
        systems.push({ arm, congestions, upstream, samples: `unix:${tee.socket}` });
      }
    }
    const lanes: Lane[] = [];
    for (let index = 0; index < options.lanes; index++)
      lanes.push(await startLane(index, systems, folder, options, stack, fail));
    return { lanes, folder, cubic, onSample: (listener) => listeners.push(listener) };
  });
}
