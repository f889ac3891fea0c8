import { join } from "node:path";
import { buildEdge, buildWorker, EDGE_PROGRAM } from "../../infra/setup/build.ts";
import { startEdge } from "../../infra/workerd/edge.ts";
import type { WorkerdOptions } from "../../infra/workerd/workerd.ts";
import { findCaddy, startCaddy } from "./caddy.ts";
import { childrenOf } from "./cores.ts";
import { CROWD_FLAGS } from "./crowd-flags.ts";
import { makeRunFolder, removeLeftoverFolders } from "./leftovers.ts";
import { findNginx, findNginxJs, startNginx } from "./nginx.ts";
import { startOrigin } from "./origin-process.ts";
import { buildK6 } from "./programs.ts";
import { startTogether } from "./shell.ts";
import { startSampleTee } from "./tee.ts";
import { startWorker, TOKEN } from "./worker.ts";
import { readFileSync } from "node:fs";
import { ROOT } from "../../base/root.ts";
import { INITIAL_POLICY } from "../../policy-api/decision/policy.ts";

/** What runs of an arm. */
export interface ArmProcesses {
  /** https://HOST:PORT */
  readonly url: string;
  /** Of the edge, of Caddy, or of nginx and its workers, who come when it listens already. */
  readonly frontPids: () => number[];
  readonly workerdPid: number | undefined;
}

/** What such a system and its clients run; it needs no root. @throws UserError */
export async function buildLoopback(): Promise<void> {
  await buildWorker();
  await buildEdge();
  await buildK6();
}

/**
 * One origin, and every arm in front of it with programs of its own: what one leaves to be done must not count as
 * another's. Everything stands in a folder that goes with it. `failed` resolves with a sentence when a program ends that
 * nobody stopped.
 *
 * @param runner What runs the arms' workerd (WorkerdOptions)
 * @throws UserError
 */
export function startLoopbackSystem(names: readonly LoopbackArm[], runner?: WorkerdOptions["runner"]) {
  return startTogether(async (stack, fail) => {
    removeLeftoverFolders();
    const { path: folder, remove } = makeRunFolder();
    stack.defer(remove);
    const origin = await startOrigin(join(folder, "origin.sock"), stack, fail);
    const sink = await startSampleTee(join(folder, "samples"), undefined, () => undefined);
    stack.defer(() => sink.stop());
    const certificates = join(folder, "certificate");
    const arms = new Map<LoopbackArm, ArmProcesses>();
    for (const name of names) {
      const { front, worker, policy } = LOOPBACK_ARMS[name];
      const passThrough = { config: join(import.meta.dirname, "pass-through.capnp") };
      const own = {
        stateDir: join(folder, name),
        origin: origin.url,
        ...(runner && { runner }),
        ...(worker === "ours" ? { token: TOKEN } : passThrough),
      };
      const workerd = worker === "none" ? undefined : await startWorker(own, policy, stack, fail);
      const { program, addresses } =
        front === "edge"
          ? await startEdge({
              program: EDGE_PROGRAM,
              listen: [`127.0.0.1:0,congestion=${kernelCongestion()}`],
              upstream: workerd === undefined ? origin.url : `unix:${workerd.visitorsSocket}`,
              // What an edge measures is part of it; what becomes of the readings, of this worker only.
              samples: `unix:${worker === "ours" ? workerd?.samplesSocket : sink.socket}`,
              stateDir: certificates,
              flags: CROWD_FLAGS,
            })
          : // An edge has made the certificate: the first arm is one.
            await startProxy(front, join(folder, name), new URL(origin.url).host, certificates);
      stack.defer(() => program.stop());
      void program.ended.then((why) => fail(`The ${front} of ${name} ended by itself (${why}).`));
      arms.set(name, {
        url: `https://${addresses[0]}`,
        frontPids: () => [program.pid, ...childrenOf(program.pid)],
        workerdPid: workerd?.pid(),
      });
    }
    return { arms, originPid: origin.pid };
  });
}

/** Starts what stands in the edge's place. @throws UserError */
function startProxy(front: Exclude<ArmSetup["front"], "edge">, ...where: Parameters<typeof startCaddy>) {
  return front === "caddy" ? startCaddy(...where) : startNginx(...where, front === "nginx-njs");
}

/** What nginx and Caddy send with, too: the kernel's own congestion control. */
function kernelCongestion(): string {
  return readFileSync("/proc/sys/net/ipv4/tcp_congestion_control", "utf8").trim();
}

/** A server in front of the same origin, asked for the same files in the same way. */
export type LoopbackArm = "bare" | "pass-through" | "subresource" | "fixed-h3" | "adaptive" | "nginx" | "njs" | "caddy";

export interface ArmSetup {
  /** As tables call it. */
  readonly title: string;
  /** `nginx-njs`: njs decides on pages. */
  readonly front: "edge" | "nginx" | "nginx-njs" | "caddy";
  /** What stands between the front and the origin. */
  readonly worker: "none" | "pass-through" | "ours";
  /** What our worker is told. */
  readonly policy?: object;
  /** As browsers send it: a page is decided on, a subresource is not. */
  readonly secFetchDest: "document" | "image";
  /** Whether every response must carry an Alt-Svc, or none. */
  readonly offers: boolean;
}

const BARE = { front: "edge", worker: "none", secFetchDest: "document", offers: false } as const;
const OURS = { ...BARE, worker: "ours", offers: true } as const;

export const LOOPBACK_ARMS: Readonly<Record<LoopbackArm, ArmSetup>> = {
  bare: { ...BARE, title: "the edge alone" },
  "pass-through": { ...BARE, title: "a worker that only passes on", worker: "pass-through" },
  subresource: {
    ...OURS,
    title: "this worker, a subresource: passes untouched",
    policy: offeringPolicy(),
    secFetchDest: "image",
    offers: false,
  },
  "fixed-h3": {
    ...OURS,
    title: "this worker, a page under `fixed-h3`",
    policy: { ...INITIAL_POLICY, mode: "fixed-h3" },
  },
  adaptive: {
    ...OURS,
    title: "this worker, a page under `adaptive`",
    policy: offeringPolicy(),
  },
  nginx: { ...BARE, title: "nginx instead of the edge, no worker", front: "nginx" },
  njs: { ...BARE, title: "nginx that decides by RTT in njs, no worker", front: "nginx-njs", offers: true },
  caddy: { ...BARE, title: "Caddy instead of the edge, no worker", front: "caddy" },
};

/** Whether what stands in front of an arm is installed, or can be. */
export function canRun(arm: LoopbackArm): boolean {
  switch (LOOPBACK_ARMS[arm].front) {
    case "edge":
      return true;
    case "nginx":
      return findNginx() !== undefined;
    case "nginx-njs":
      return findNginxJs() !== undefined;
    case "caddy":
      return findCaddy() !== undefined;
  }
}

/**
 * The published gains under a margin that every path meets: each page is decided on, offered HTTP/3, and the offer remembered.
 * That is the dearest answer, and every response shows that a decision was made.
 */
export function offeringPolicy(): object {
  const published = JSON.parse(readFileSync(join(ROOT, "policy-api/policies/published.json"), "utf8")) as object;
  return { ...published, margin: { enter: -1, leave: -1 } };
}
