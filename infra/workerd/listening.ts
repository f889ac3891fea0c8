import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { UserError } from "../../base/user-error.ts";

const READY_MS = 10_000;

/**
 * Ports that the kernel gives to nobody who asks for any: Linux gives those from 32768 on, other systems those from 49152 on (RFC
 * 6335, section 6). So nothing takes a free port between this look and the program's start.
 */
const NAMED_PORTS = { from: 16_384, to: 32_767 };
const TRIES = 100;

/**
 * Finds a free port, for a program that cannot listen on port 0 because it does not say which port it got.
 *
 * @throws UserError
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(NAMED_PORTS.from, NAMED_PORTS.to + 1);
    if (await isFree(port)) return port;
  }
  throw new UserError(`None of ${TRIES} ports from ${NAMED_PORTS.from} to ${NAMED_PORTS.to} is free.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
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
