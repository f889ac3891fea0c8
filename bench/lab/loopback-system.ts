import { join } from "node:path";
import { EDGE_PROGRAM } from "../../infra/setup/build.ts";
import { UserError } from "../../base/user-error.ts";
import { startEdge } from "../../infra/workerd/edge.ts";
import { activatePolicy } from "../../infra/workerd/policy-client.ts";
import { startWorkerd, type Workerd } from "../../infra/workerd/workerd.ts";
import { CROWD_FLAGS } from "./crowd-flags.ts";
import { startOrigin } from "./origin-process.ts";
import { makeRunFolder, removeLeftoverFolders } from "./leftovers.ts";
import { startSampleTee } from "./tee.ts";
import { OVERHEAD_SETUPS, type OverheadArm, type OverheadSetup } from "./loopback-arms.ts";
import { childrenOf } from "./cpu.ts";
import { startNginx } from "./nginx.ts";
import { startPassThrough } from "./pass-through.ts";

/** Of the API of every worker here. */
export const TOKEN = "token-of-a-bench";

/** What runs of an arm. */
export interface ArmProcesses {
  /** https://HOST:PORT */
  readonly url: string;
  /** Of the edge, or of nginx and its workers, who come when it listens already. */
  frontPids(): number[];
  readonly workerdPid: number | undefined;
  /** Past the edge. */
  readonly visitorsSocket: string | undefined;
}

export interface LoopbackSystem {
  readonly arms: ReadonlyMap<OverheadArm, ArmProcesses>;
  readonly originPid: number;
  /** Resolves with a sentence when a program ends that nobody stopped. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/**
 * One origin, and every arm in front of it with programs of its own: what one leaves to be done must not count as
 * another's. Everything stands in a folder that goes with it.
 *
 * @throws UserError
 */
export async function startLoopbackSystem(
  names: readonly OverheadArm[],
  nginx: string | undefined,
): Promise<LoopbackSystem> {
  const stack = new AsyncDisposableStack();
  const failure = Promise.withResolvers<string>();
  try {
    removeLeftoverFolders();
    const { path: folder, remove } = makeRunFolder();
    stack.defer(remove);
    const origin = await startOrigin(join(folder, "origin.sock"), stack, failure.resolve);
    const sink = await startSampleTee(join(folder, "samples"), undefined, () => undefined);
    stack.defer(() => sink.stop());
    const certificates = join(folder, "certificate");
    const arms = new Map<OverheadArm, ArmProcesses>();
    for (const name of names) {
      const setup = OVERHEAD_SETUPS[name];
      const workerd = await startWorker(setup, join(folder, name), origin.url);
      if (workerd !== undefined) {
        stack.defer(() => workerd.stop());
        void workerd.failed.then(failure.resolve);
      }
      if (setup.front === "nginx") {
        if (nginx === undefined) throw new UserError("There is no nginx.");
        const { program, address } = await startNginx({
          program: nginx,
          folder: join(folder, name),
          origin: new URL(origin.url).host,
          // An edge has made it: the first arm is one.
          certFile: join(certificates, "dev-cert.pem"),
          keyFile: join(certificates, "dev-key.pem"),
        });
        stack.defer(() => program.stop());
        void program.ended.then((why) => failure.resolve(`nginx ended by itself (${why}).`));
        const frontPids = (): number[] => [program.pid, ...childrenOf(program.pid)];
        arms.set(name, { url: `https://${address}`, frontPids, workerdPid: undefined, visitorsSocket: undefined });
        continue;
      }
      const edge = await startEdge({
        program: EDGE_PROGRAM,
        listen: ["127.0.0.1:0"],
        upstream: workerd === undefined ? origin.url : `unix:${workerd.visitorsSocket}`,
        // What an edge measures is part of it; what becomes of the readings, of this worker only.
        samples: `unix:${setup.worker === "ours" && workerd !== undefined ? workerd.samplesSocket : sink.socket}`,
        stateDir: certificates,
        flags: CROWD_FLAGS,
      });
      stack.defer(() => edge.program.stop());
      void edge.program.ended.then((why) => failure.resolve(`An edge ended by itself (${why}).`));
      arms.set(name, {
        url: `https://${edge.addresses[0]}`,
        frontPids: () => [edge.program.pid],
        workerdPid: workerd?.pid(),
        visitorsSocket: workerd?.visitorsSocket,
      });
    }
    return { arms, originPid: origin.pid, failed: failure.promise, stop: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function startWorker(setup: OverheadSetup, stateDir: string, origin: string): Promise<Workerd | undefined> {
  if (setup.worker === "none") return undefined;
  if (setup.worker === "pass-through") return startPassThrough(stateDir, origin);
  const workerd = await startWorkerd({ stateDir, origin, token: TOKEN });
  try {
    await activatePolicy(workerd.visitorsSocket, TOKEN, setup.policy ?? {});
    return workerd;
  } catch (error) {
    await workerd.stop();
    throw error;
  }
}
