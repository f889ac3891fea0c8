import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "./listening.ts";

const KERNEL_PORTS = "/proc/sys/net/ipv4/ip_local_port_range";

async function listenOn(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return server;
}

it("a free port can be listened on, and is none that the kernel gives away in the meantime", async () => {
  const port = await freePort();
  await listenOn(port);
  const firstOfKernel = existsSync(KERNEL_PORTS) ? Number(readFileSync(KERNEL_PORTS, "utf8").split(/\s/)[0]) : 49_152;
  expect(port).toBeGreaterThan(1024);
  expect(port).toBeLessThan(firstOfKernel);
});

it("a port that is taken is not free", async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, freePort));
  const taken = new Set(ports);
  await Promise.all(Array.from(taken, listenOn));
  const others = await Promise.all(Array.from({ length: 200 }, freePort));
  expect(others.filter((port) => taken.has(port))).toEqual([]);
});
