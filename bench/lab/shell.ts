import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { UserError } from "../../base/user-error.ts";
import { type RunningProgram, startProgram } from "../../infra/workerd/processes.ts";

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

export interface Server extends RunningProgram {
  /** What it printed first. */
  readonly line: string;
  /** Resolves with a sentence when it has ended. */
  readonly failed: Promise<string>;
}

/**
 * Starts a program that prints a line when it is ready, and ends with `stack`.
 *
 * @param ready what the line has that says so, where it is among its errors
 * @throws UserError with what it said instead
 */
export async function startServer(
  name: string,
  [file, ...args]: readonly [string, ...string[]],
  stack: AsyncDisposableStack,
  ready?: RegExp,
): Promise<Server> {
  const said: string[] = [];
  const first = Promise.withResolvers<string>();
  const onErrorLine = (line: string): void => {
    said.push(line);
    if (ready?.test(line) === true) first.resolve(line);
  };
  const program = startProgram(file, { args, onLine: ready === undefined ? first.resolve : onErrorLine, onErrorLine });
  stack.defer(() => program.stop());
  const failed = program.ended.then((why) => [...said.slice(-20), `${name} ended by itself (${why}).`].join("\n"));
  const failure = failed.then((why) => {
    throw new UserError(why);
  });
  return { ...program, line: await Promise.race([first.promise, failure]), failed };
}

/** What runs until it is stopped. */
export interface Started {
  /** Resolves with a sentence when a program of it has ended that nobody stopped. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts programs that end together, in the reverse order: by `stop`, or where not all of them start.
 *
 * @param start puts the end of each on the stack, and calls `fail` when one has ended by itself
 */
export async function startTogether<System extends object>(
  start: (stack: AsyncDisposableStack, fail: (why: string) => void) => Promise<System>,
): Promise<System & Started> {
  const stack = new AsyncDisposableStack();
  const failure = Promise.withResolvers<string>();
  try {
    const system = await start(stack, failure.resolve);
    return { ...system, failed: failure.promise, stop: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
