import { execFile } from "node:child_process";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Runs a program of the system to its end. @throws Error with what it printed */
export async function shell(program: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await execute(program, [...args])).stdout;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`${program} ${args.join(" ")}: ${(stderr ?? String(error)).trim()}`, { cause: error });
  }
}
