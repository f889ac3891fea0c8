import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { buildEdge, buildWorker, EDGE_PROGRAM } from "../../infra/setup/build.ts";
import { startEdge } from "../../infra/workerd/edge.ts";
import { activatePolicy } from "../../infra/workerd/policy-client.ts";
import type { RunningProgram } from "../../infra/workerd/processes.ts";
import { startWorkerd, type Workerd } from "../../infra/workerd/workerd.ts";
import { copyConfig } from "./config-file.ts";
import { childrenOf } from "./cpu.ts";
import { makeRunFolder, removeLeftoverFolders } from "./leftovers.ts";
import { type ArmSetup, LOOPBACK_ARMS, type LoopbackArm, TOKEN } from "./loopback-arms.ts";
import { startNginx } from "./nginx.ts";
import { startOrigin } from "./origin-process.ts";
import { buildK6 } from "./programs.ts";
import { startSampleTee } from "./tee.ts";

/** What runs of an arm. */
export interface ArmProcesses {
  /** https://HOST:PORT */
  readonly url: string;
  /** Of the edge, or of nginx and its workers, who come when it listens already. */
  frontPids(): number[];
  readonly workerdPid: number | undefined;
  /** Past the edge; empty without a worker. */
  readonly visitorsSocket: string;
}

export interface LoopbackSystem {
  arm(name: LoopbackArm): ArmProcesses;
  readonly originPid: number;
  /** Resolves with a sentence when a program ends that nobody stopped. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/** What such a system and its clients run; it needs no root. @throws UserError */
export async function buildLoopback(): Promise<void> {
  await buildWorker();
  await buildEdge();
  await buildK6();
}

/**
 * One origin, and every arm in front of it with programs of its own: what one leaves to be done must not count as
 * another's. Everything stands in a folder that goes with it.
 *
 * @throws UserError
 */
export async function startLoopbackSystem(names: readonly LoopbackArm[]): Promise<LoopbackSystem> {
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
    const arms = new Map<LoopbackArm, ArmProcesses>();
    for (const name of names) {
      const setup = LOOPBACK_ARMS[name];
      const workerd = await startWorker(setup, join(folder, name), origin.url);
      if (workerd !== undefined) {
        stack.defer(() => workerd.stop());
        void workerd.failed.then(failure.resolve);
      }
      const { program, address } =
        setup.front === "nginx"
          ? // An edge has made the certificate: the first arm is one.
            await startNginx(join(folder, name), new URL(origin.url).host, certificates)
          : await startFront({
              upstream: workerd === undefined ? origin.url : `unix:${workerd.visitorsSocket}`,
              // What an edge measures is part of it; what becomes of the readings, of this worker only.
              samples: `unix:${setup.worker === "ours" && workerd !== undefined ? workerd.samplesSocket : sink.socket}`,
              stateDir: certificates,
            });
      stack.defer(() => program.stop());
      void program.ended.then((why) => failure.resolve(`The ${setup.front} of ${name} ended by itself (${why}).`));
      arms.set(name, {
        url: `https://${address}`,
        frontPids: () => [program.pid, ...childrenOf(program.pid)],
        workerdPid: workerd?.pid(),
        visitorsSocket: workerd?.visitorsSocket ?? "",
      });
    }
    return {
      arm: (name) => {
        const found = arms.get(name);
        if (found === undefined) throw new Error(`${name} does not run.`);
        return found;
      },
      originPid: origin.pid,
      failed: failure.promise,
      stop: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function startFront(options: {
  upstream: string;
  samples: string;
  stateDir: string;
}): Promise<{ program: RunningProgram; address: string }> {
  const { program, addresses } = await startEdge({
    program: EDGE_PROGRAM,
    listen: ["127.0.0.1:0"],
    // All clients here have one address.
    flags: ["-max-requests", "100000"],
    ...options,
  });
  return { program, address: addresses[0] ?? "" };
}

async function startWorker(setup: ArmSetup, stateDir: string, origin: string): Promise<Workerd | undefined> {
  if (setup.worker === "none") return undefined;
  if (setup.worker === "pass-through") {
    const ours = readFileSync(join(ROOT, "infra/workerd/config.capnp"), "utf8");
    const compatibilityDate = /compatibilityDate = "(.*)"/.exec(ours)?.[1] ?? "";
    return startWorkerd({
      stateDir,
      origin,
      config: copyConfig("pass-through.capnp", stateDir, { compatibilityDate }),
    });
  }
  const workerd = await startWorkerd({ stateDir, origin, token: TOKEN });
  try {
    await activatePolicy(workerd.visitorsSocket, TOKEN, setup.policy ?? {});
    return workerd;
  } catch (error) {
    await workerd.stop();
    throw error;
  }
}
