import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { DecisionLine } from "../../policy-api/decision/decide.ts";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { EDGE_PROGRAM, PEER_PROGRAM } from "../setup/build.ts";
import { parseDecisionLine } from "../workerd/decision-text.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { activatePolicy } from "../workerd/policy-client.ts";
import { startSystem, type System, type SystemOptions } from "../workerd/system.ts";

export const TOKEN = "token-of-a-test";

export interface TestSystem extends System {
  readonly stateDir: string;
  /** The port of the edge's first listener. */
  readonly port: number;
  readonly decisions: DecisionLine[];
  /** Activates a policy for everyone; returns its version. */
  putPolicy(policy: Policy): Promise<number>;
}

/** Makes a temporary folder and removes it after the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "h3-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the whole system on free ports, by default with the demo site as origin. It ends with the test. */
export async function startTestSystem(options: Partial<SystemOptions> = {}): Promise<TestSystem> {
  const stateDir = testFolder();
  let origin = options.origin;
  if (origin === undefined) {
    const demo = await startDemoOrigin();
    onTestFinished(demo.stop);
    origin = demo.url;
  }
  const decisions: DecisionLine[] = [];
  const system = await startSystem({
    edgeProgram: EDGE_PROGRAM,
    stateDir,
    listen: ["127.0.0.1:0"],
    token: TOKEN,
    // These tests look into the objects. With one object, all that is known is in one place.
    variables: { LOG_DECISIONS: "on", OBJECTS_PER_REGION: "1", BUDGET_MS: "200" },
    onWorkerLine: (line) => {
      const decision = parseDecisionLine(line);
      if (decision !== undefined) decisions.push(decision);
    },
    onErrorLine: () => undefined,
    ...options,
    // The names that tests use in browsers. Firefox takes no pattern for all names under a top one.
    edgeFlags: ["-host", "*.test", "-host", "h3.test", "-host", "*.h3.test", ...(options.edgeFlags ?? [])],
    origin,
  });
  onTestFinished(() => system.stop());
  return {
    ...system,
    stateDir,
    decisions,
    port: portOf(system.addresses[0] ?? ""),
    putPolicy: (policy) => activatePolicy(system.workerd.visitorsSocket, TOKEN, policy),
  };
}

export function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}

export function fixed(mode: Policy["mode"], maxS = 60): Policy {
  return { ...INITIAL_POLICY, mode, ma: { minS: 1, maxS } };
}

export type Protocol = "h1" | "h2" | "h3";

/** What the probe saw of one load. */
export interface Load {
  readonly protocol: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly bytes: number;
  readonly sha256: string;
  readonly ms: number;
  /** Why the load did not finish. */
  readonly error?: string;
}

/** Loads URLs one after another over one connection of this protocol, then closes it. */
export async function probe(
  system: Pick<TestSystem, "stateDir">,
  protocol: Protocol,
  urls: readonly string[],
  flags: readonly string[] = [],
): Promise<Load[]> {
  const ca = join(system.stateDir, "dev-cert.pem");
  const { stdout } = await promisify(execFile)(
    PEER_PROGRAM,
    ["probe", "-protocol", protocol, "-ca", ca, ...flags, ...urls],
    {
      maxBuffer: 1e7,
    },
  );
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Load);
}

/** Polls until `read` returns a value: it comes from another process, which sends no event. */
export async function until<T>(
  what: string,
  read: () => T | undefined | Promise<T | undefined>,
  ms = 15_000,
): Promise<T> {
  const deadlineMs = Date.now() + ms;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (Date.now() > deadlineMs) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => {
      setTimeout(resolve, 25);
    });
  }
}
