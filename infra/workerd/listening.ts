import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { UserError } from "../../base/user-error.ts";

const READY_MS = 10_000;

/** Finds a free port, for a program that cannot listen on port 0 because it does not say which port it got. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves when a program accepts connections at HOST:PORT, if it does not say so itself. @throws UserError */
export async function untilListens(who: string, address: string): Promise<void> {
  const [host = "", port = ""] = address.split(":");
  const deadlineMs = Date.now() + READY_MS;
  for (;;) {
    const connected = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), host);
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (connected) return;
    if (Date.now() > deadlineMs) throw new UserError(`${who} did not listen within ${READY_MS / 1000} s.`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}
