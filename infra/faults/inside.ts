import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { runMain } from "../../base/run-main.ts";
import { UserError } from "../../base/user-error.ts";
import { EDGE_PROGRAM } from "../setup/build.ts";
import { activatePolicy } from "../workerd/policy-client.ts";
import { startSystem, type System } from "../workerd/system.ts";
import { Accounting, type Ending } from "./accounting.ts";
import { buildClock, type Clock } from "./clock.ts";
import { FAULTS, type Scene } from "./faults.ts";
import { type Load, startLoad } from "./load.ts";
import { growth, type Holdings } from "./growth.ts";
import { holdingOf, lacking, mountMemory, raiseLoopback, unmount } from "./machine.ts";
import type { FaultName } from "./names.ts";
import { type Options, readOptions } from "./options.ts";
import { tableOf, whileGone } from "./table.ts";

// The run itself. main.ts starts it, in namespaces of its own where it can.

const TOKEN = "token-of-the-fault-harness";
/** What each fault has for itself, milliseconds: the fault, the healing, and a while after it. */
const PHASE_MS = 7_000;
/** A fault gets no more requests in a round than this; then there are more rounds. */
const REQUESTS_IN_PHASE = 3_000;
const QUIET_MS = 1_000;
const DECIDING_WITHIN_MS = 30_000;
/** The disk of the objects, where there can be one of their own. */
const DISK_BYTES = 32 << 20;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(3));
  const inNamespaces = process.argv[2] === "namespaces";
  if (inNamespaces) await raiseLoopback();
  const { faults, leftOut } = whatCanBe(options, inNamespaces);

  const accounting = new Accounting();
  const interrupted = untilSignal();
  const stateDir = mkdtempSync(join(tmpdir(), "h3-faults-"));
  const objectsDir = join(stateDir, "objects");
  mkdirSync(objectsDir, { mode: 0o700 });
  let load: Load | undefined;
  let system: System | undefined;
  try {
    if (inNamespaces) await mountMemory(objectsDir, DISK_BYTES);
    load = await startLoad((record) => accounting.add(record));
    const setsClock = faults.some((name) => FAULTS[name].needs === "compiler");
    const clock = setsClock ? buildClock(stateDir) : undefined;
    system = await startKept({ stateDir, origin: load.origin, accounting, clock });
    // Each page is decided, so that the first decision after a fault can be told.
    const policy: Policy = { ...INITIAL_POLICY, mode: "fixed-h3", ma: { minS: 1, maxS: 60 } };
    await activatePolicy(system.workerd.visitorsSocket, TOKEN, policy);
    const port = Number(/:(\d+)$/.exec(system.addresses[0] ?? "")?.[1]);
    const scene: Scene = { system, load, accounting, port, objectsDir, seed: options.seed, clock };
    const site = { site: `https://localhost:${port}`, ca: join(stateDir, "dev-cert.pem") };
    await injectAll(faults, options, scene, site, interrupted);
  } finally {
    await system?.stop();
    await load?.end();
    if (inNamespaces) await unmount(objectsDir);
    rmSync(stateDir, { recursive: true, force: true });
  }
  if (interrupted.happened) throw new UserError("Interrupted: nothing is left behind, and nothing was proved.");
  report(accounting, leftOut);
}

/** Which faults this machine can have, and a sentence about each other one. @throws UserError if it can have none */
function whatCanBe(options: Options, inNamespaces: boolean): { faults: readonly FaultName[]; leftOut: string[] } {
  const lacks = lacking(inNamespaces);
  const faults = options.faults.filter((name) => !lacks.has(FAULTS[name].needs));
  const leftOut = options.faults
    .filter((name) => !faults.includes(name))
    .map((name) => `${name} is left out: this machine lacks ${lacks.get(FAULTS[name].needs)}.`);
  if (faults.length === 0 && leftOut.length > 0) throw new UserError(leftOut.join("\n"));
  return { faults, leftOut };
}

/** Prints what visitors got. @throws UserError if something was wrong */
function report(accounting: Accounting, leftOut: readonly string[]): void {
  accounting.settle();
  console.log(`\n${tableOf([...accounting.counts.values()])}\n`);
  for (const [why, times] of accounting.excused) console.log(`${times} x ${why}`);
  console.log(`${whileGone(accounting.beyondWhileGoneMs) ?? ""}\n`);
  for (const sentence of leftOut) console.log(sentence);
  const wrong = accounting.report();
  if (wrong.length > 0) throw new UserError(`\nWrong:\n${wrong.join("\n")}`);
  if (leftOut.length > 0 && process.env["CI"] === "true")
    throw new UserError("\nWith CI=true no fault may be left out.");
  console.log("Every visitor got the origin's response, or could see that it broke where it had to.");
}

/** Injects the faults in rounds, under a load that gives each of them its part of the requests. */
async function injectAll(
  faults: readonly FaultName[],
  { requests, seed }: Options,
  scene: Scene,
  site: { readonly site: string; readonly ca: string },
  interrupted: Interruption,
): Promise<void> {
  const { accounting, load, system } = scene;
  const rounds = Math.ceil(requests / (faults.length * REQUESTS_IN_PHASE));
  const quota = Math.ceil(requests / (faults.length * rounds));
  await load.order({ do: "start", ...site, seed, perSecond: Math.ceil(quota / (PHASE_MS / 1000)) });
  await pause(2 * QUIET_MS);
  const readings: Holdings[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const name of faults) {
      if (interrupted.happened) return;
      console.log(`${rounds === 1 ? "" : `round ${round} of ${rounds}: `}${name}`);
      await injectOne(name, scene, quota, interrupted);
    }
    readings.push({ workerd: holdingOf(system.workerd.pid()), edge: holdingOf(system.edgePid()) });
  }
  if (interrupted.happened) return;
  await load.order({ do: "stop" });
  for (const [program, { MB, descriptors }] of Object.entries(readings.at(-1) ?? {}))
    console.log(`${program} holds ${MB} MB and ${descriptors} descriptors.`);
  if (accounting.endings.every(({ program }) => program === "udp"))
    for (const sentence of growth(readings)) accounting.violate("growth", sentence);
  const sent = [...accounting.counts.values()].reduce((sum, count) => sum + count.requests, 0);
  if (sent < requests) console.log(`This machine was too slow: visitors sent ${sent} of ${requests} requests.`);
}

interface Kept {
  readonly stateDir: string;
  readonly origin: string;
  readonly accounting: Accounting;
  readonly clock: Clock | undefined;
}

/** Starts the system as `npm start` does: what ends is started again. Notes each end of a program. */
async function startKept({ stateDir, origin, accounting, clock }: Kept): Promise<System> {
  const keep = (line: string): void => {
    // The edge's own words (infra/edge/internal/origin).
    if (line.startsWith("edge: worker: ")) accounting.workerdGone(Date.now());
    if (line.startsWith("edge: worker back: ")) accounting.workerdBack(Date.now());
    if (process.env["DEBUG"] !== undefined) console.error(line);
  };
  const system: System = await startSystem({
    edgeProgram: EDGE_PROGRAM,
    stateDir,
    origin,
    listen: ["127.0.0.1:0"],
    token: TOKEN,
    ...(clock === undefined ? {} : { runner: clock.runner }),
    variables: { OBJECTS_PER_REGION: "1" },
    onRestart: (sentence) => {
      console.log(`  ${sentence}`);
      if (!sentence.includes("ended by itself")) return;
      const program = sentence.startsWith("workerd") ? "workerd" : "edge";
      void noteEnding(program, accounting, () => (program === "workerd" ? system.workerd.pid() : system.edgePid()));
    },
    onWorkerLine: keep,
    onErrorLine: keep,
  });
  return system;
}

async function noteEnding(program: "workerd" | "edge", accounting: Accounting, pid: () => number): Promise<void> {
  const ended = pid();
  const ending: Ending = { program, ms: Date.now() };
  accounting.endings.push(ending);
  while (pid() === ended) await pause(10, undefined, { ref: false });
  ending.backMs = Date.now();
}

/** Injects a fault, heals it, and waits until the worker decides again and the fault had its requests. */
async function injectOne(name: FaultName, scene: Scene, quota: number, interrupted: Interruption): Promise<void> {
  const { accounting } = scene;
  const fault = FAULTS[name];
  accounting.inject(name, Date.now());
  try {
    await fault.inject(scene);
    await Promise.race([pause(fault.holdMs ?? 0), interrupted.promise]);
  } finally {
    await fault.heal?.(scene);
  }
  accounting.heal(Date.now());
  const deadlineMs = Date.now() + DECIDING_WITHIN_MS;
  while (!accounting.decided && !interrupted.happened) {
    if (Date.now() > deadlineMs) {
      accounting.violate(name, `no decision within ${DECIDING_WITHIN_MS / 1000} s after healing`);
      break;
    }
    await pause(20);
  }
  await pause(QUIET_MS);
  const quotaByMs = Date.now() + 2 * PHASE_MS;
  const sent = accounting.inPhase;
  while (accounting.inPhase < quota && Date.now() < quotaByMs && !interrupted.happened) await pause(50);
  if (accounting.inPhase === sent && accounting.inPhase < quota)
    accounting.violate(name, "no requests came after healing");
}

interface Interruption {
  promise: Promise<void>;
  readonly happened: boolean;
}

/** Resolves at Ctrl-C or another signal to end. Later signals change nothing. */
function untilSignal(): Interruption {
  const interruption = { promise: Promise.resolve(), happened: false };
  interruption.promise = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => {
        interruption.happened = true;
        resolve();
      });
  });
  return interruption;
}

await runMain(main);
