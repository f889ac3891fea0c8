import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { startServer } from "./shell.ts";

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
  const program = join(ROOT, "bench/lab/origin.ts");
  const { line, pid, failed } = await startServer("The origin", [process.execPath, program, socket], stack);
  void failed.then(onFailure);
  return { url: line, socket, pid };
}
