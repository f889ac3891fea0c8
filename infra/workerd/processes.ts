import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";

/** A program that this process started. It ends when this process ends. */
export interface RunningProgram {
  readonly pid: number;
  /** Resolves when the program has ended, with the reason. */
  readonly ended: Promise<string>;
  /** Asks the program to end, and kills it after `graceMs`. Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ProgramOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly onLine: (line: string) => void;
  readonly onErrorLine: (line: string) => void;
  /** How long the program may take to end after it was asked, milliseconds. */
  readonly graceMs?: number;
}

/**
 * Starts a program in its own process group. So Ctrl-C in the terminal reaches only this process, which then ends its
 * programs in order. If setpriv (util-linux) is installed, the kernel ends the program when this process is killed.
 */
export function startProgram(file: string, options: ProgramOptions): RunningProgram {
  const setpriv = findProgram("setpriv");
  const command = setpriv === undefined ? [file] : [setpriv, "--pdeathsig", "KILL", "--", file];
  const child: ChildProcess = spawn(command[0] ?? file, [...command.slice(1), ...options.args], {
    env: { ...process.env, ...options.env },
    cwd: options.cwd,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  for (const [stream, onLine] of [
    [child.stdout, options.onLine],
    [child.stderr, options.onErrorLine],
  ] as const)
    if (stream !== null) createInterface({ input: stream }).on("line", onLine);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    // Not "exit": that event may come before the last lines of output.
    child.once("close", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  if (child.pid === undefined) throw new UserError(`${file} could not be started.`);
  return {
    pid: child.pid,
    ended,
    stop: async (signal = "SIGTERM") => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const killer = setTimeout(() => child.kill("SIGKILL"), options.graceMs ?? 10_000);
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      clearTimeout(killer);
    },
  };
}
