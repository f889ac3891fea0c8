import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { startProgram } from "../../infra/workerd/processes.ts";

export interface OriginServer {
  /** On the loopback, for workers. */
  readonly url: string;
  /** A Unix socket, for edges without a worker. */
  readonly socket: string;
  readonly pid: number;
}

/** Starts the origin in a process of its own, which ends with `stack`. @throws UserError */
export async function startOrigin(
  socket: string,
  stack: AsyncDisposableStack,
  onFailure: (why: string) => void,
): Promise<OriginServer> {
  const url = Promise.withResolvers<string>();
  const program = startProgram(process.execPath, {
    args: [join(ROOT, "bench/lab/origin.ts"), socket],
    onLine: url.resolve,
    onErrorLine: (line) => console.error(line),
  });
  stack.defer(() => program.stop());
  void program.ended.then((why) => onFailure(`The origin ended by itself (${why}).`));
  const ended = program.ended.then((why) => {
    throw new UserError(`The origin did not start (${why}).`);
  });
  return { url: await Promise.race([url.promise, ended]), socket, pid: program.pid };
}
