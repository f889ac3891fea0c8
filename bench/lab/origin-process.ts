import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { startServer } from "./shell.ts";

/**
 * Starts the origin in a process of its own, which ends with `stack`. Workers find it by its URL, on the loopback; edges without a worker
 * by the socket.
 *
 * @throws UserError
 */
export async function startOrigin(socket: string, stack: AsyncDisposableStack, onFailure: (why: string) => void) {
  const program = join(ROOT, "bench/lab/origin.ts");
  const { line, pid, failed } = await startServer("The origin", [process.execPath, program, socket], stack);
  void failed.then(onFailure);
  return { url: line, socket, pid };
}
