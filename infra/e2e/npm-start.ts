import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";

export interface Started {
  readonly child: ChildProcess;
  output(): string;
  ended(): Promise<number | null>;
}

export const NPM = ["npm", "--silent", "start"] as const;
const PROGRAM = [process.execPath, join(ROOT, "infra/workerd/start.ts")] as const;

/** Runs `npm start`, or its program, in its own process group, because Ctrl-C in a terminal goes to a whole group. */
export function start(
  env: Record<string, string>,
  [command, ...args]: readonly [string, ...string[]] = PROGRAM,
): Started {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-(child.pid ?? 0), "SIGTERM");
    await once(child, "exit");
  });
  return {
    child,
    output: () => output,
    ended: async () => {
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      return child.exitCode;
    },
  };
}

export function interrupt({ child }: Started): void {
  process.kill(-(child.pid ?? 0), "SIGINT");
}
