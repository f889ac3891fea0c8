import type { Lane } from "./lane.ts";
import { CROSS_TRAFFIC_PROGRAM } from "./programs.ts";
import { startServer } from "./shell.ts";

/**
 * Starts a download beside what the lane's clients load: one TCP connection over its path, by a server with cubic, as fast as it can. Resolves
 * when slow start is over. It ends with `stack`. @throws UserError
 */
export async function startCrossTraffic(lane: Lane, stack: AsyncDisposableStack): Promise<void> {
  const { serverNamespace, clientNamespace } = lane;
  const ends = ["-from", serverNamespace, "-to", clientNamespace, "-to-address", lane.freshClient()];
  await startServer("The cross traffic", [CROSS_TRAFFIC_PROGRAM, ...ends], stack);
}
