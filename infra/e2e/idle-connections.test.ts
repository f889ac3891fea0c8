import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { EDGE_PROGRAM } from "../setup/build.ts";
import { probe, startTestSystem, testFolder, type TestSystem } from "./harness.ts";

const DESCRIPTORS = 200;
const ATTACKER = "127.0.0.66";

/** Opens a connection that then rests: its handshake is complete, and no request follows. */
async function openIdle({ port }: TestSystem, protocol: string): Promise<void> {
  const options = { host: "127.0.0.1", port, ALPNProtocols: [protocol], rejectUnauthorized: false };
  const socket = connectTls({ ...options, localAddress: ATTACKER } as never);
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await Promise.race([once(socket, "secureConnect"), once(socket, "close")]);
}

it.each(["http/1.1", "h2"])("idle connections of one client over %s leave descriptors to others", async (protocol) => {
  const program = join(testFolder(), "edge");
  writeFileSync(program, `#!/bin/sh\nulimit -n ${DESCRIPTORS}\nexec ${EDGE_PROGRAM} "$@"\n`, { mode: 0o755 });
  const system = await startTestSystem({ edgeProgram: program });
  for (let i = 0; i < DESCRIPTORS; i++) await openIdle(system, protocol);
  // A quarter of half of the descriptors are the attacker's.
  expect(readdirSync(`/proc/${system.edgePid()}/fd`).length).toBeLessThan(DESCRIPTORS / 2);
  for (const visitor of ["h1", "h2", "h3"] as const) {
    const [load] = await probe(system, visitor, [`https://127.0.0.1:${system.port}/`]);
    expect(load, visitor).toMatchObject({ protocol: visitor, status: 200 });
  }
});
