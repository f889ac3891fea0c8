import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type NetConnectOpts } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";

const READY_MS = 20_000;

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

/**
 * Resolves when a program that does not say so itself accepts connections.
 *
 * @param address `HOST:PORT`, or the path of a Unix socket
 * @throws UserError
 */
export async function untilListens(who: string, address: string): Promise<void> {
  const [host = "", port] = address.split(":");
  const deadlineMs = Date.now() + READY_MS;
  while (!(await accepts(port === undefined ? { path: address } : { host, port: Number(port) }))) {
    if (Date.now() > deadlineMs) throw new UserError(`${who} did not listen within ${READY_MS / 1000} s.`);
    await pause(10);
  }
}

async function accepts(address: NetConnectOpts): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
