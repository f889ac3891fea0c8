import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { findProgram } from "../../base/find-program.ts";

/**
 * Runs a program to its end, with all that it printed. It has a process group of its own, which an abort kills as a
 * whole (venv runs pip as a child), and where util-linux has setpriv it does not outlive this process.
 *
 * @throws the signal's reason once it is aborted and the program has ended
 */
export async function runProgram(
  command: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  signal.throwIfAborted();
  const setpriv = findProgram("setpriv");
  const [file, ...args] = setpriv === undefined ? command : [setpriv, "--pdeathsig", "KILL", "--", ...command];
  const child = spawn(file, args, {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, "SIGKILL");
  };
  signal.addEventListener("abort", kill, { once: true });
  try {
    // Not "exit", which may come before the last line does.
    const [[code, by], stdout, stderr] = await Promise.all([
      once(child, "close") as Promise<[number | null, string | null]>,
      text(child.stdout),
      text(child.stderr),
    ]);
    signal.throwIfAborted();
    return { code: by ?? code ?? 1, stdout, stderr };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

/** What a program said last is where its reason stands. */
export function lastLines(output: string): string {
  return output.trimEnd().split("\n").slice(-20).join("\n");
}
