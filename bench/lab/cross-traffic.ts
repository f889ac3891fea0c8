import { setTimeout as sleep } from "node:timers/promises";
import { type Lane, SERVER_ADDRESS } from "./lane.ts";
import { CROSS_TRAFFIC_PROGRAM } from "./programs.ts";
import { type Server, startServer } from "./shell.ts";

/** Longer than any queue here takes to empty: 1.5 MB at 2 Mbit/s. */
const EMPTY_MS = 6_000;
const LOOK_MS = 20;

/**
 * Starts a download over TCP through the lane's path, by a server with cubic; its first bytes have come. It ends with `stack`, as does
 * what of it waits in the path.
 *
 * @throws UserError
 */
export async function startCrossTraffic(
  { path, clientNamespace, serverNamespace }: Pick<Lane, "path" | "clientNamespace" | "serverNamespace">,
  stack: AsyncDisposableStack,
): Promise<Server> {
  stack.defer(async () => {
    const untilMs = Date.now() + EMPTY_MS;
    while ((await path.stats()).bToA.waitingBytes > 0 && Date.now() < untilMs) await sleep(LOOK_MS);
  });
  const ends = ["-server", serverNamespace, "-client", clientNamespace, "-address", SERVER_ADDRESS];
  return startServer("The download beside a visit", [CROSS_TRAFFIC_PROGRAM, ...ends], stack);
}
