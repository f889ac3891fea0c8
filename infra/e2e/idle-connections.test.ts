// Only here: an edge process that has few descriptors.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { EDGE_PROGRAM, PEER_PROGRAM } from "../setup/build.ts";
import { probe, startTestSystem, testFolder, type TestSystem, until } from "./harness.ts";

const DESCRIPTORS = 200;
const CONNECTIONS = 200;
const ATTACKER = "127.0.0.66";

/** A system whose edge may open few descriptors, and says in numbers what it has. */
async function startSmallEdge(): Promise<{ system: TestSystem; openConnections: () => Promise<number> }> {
  const folder = testFolder();
  const [program, metrics] = [join(folder, "edge"), join(folder, "metrics")];
  writeFileSync(program, `#!/bin/sh\nulimit -n ${DESCRIPTORS}\nexec ${EDGE_PROGRAM} "$@"\n`, { mode: 0o755 });
  const system = await startTestSystem({ edgeProgram: program, edgeFlags: ["-metrics", `unix:${metrics}`] });
  const openConnections = async (): Promise<number> => {
    const said = await new Promise<string>((resolve, reject) => {
      request({ socketPath: metrics, path: "/metrics" }, (answer) => void text(answer).then(resolve, reject))
        .on("error", reject)
        .end();
    });
    return Number(/open_connections (\d+)/.exec(said)?.[1]);
  };
  return { system, openConnections };
}

/** Opens a connection that then rests: its handshake is complete, and no request follows. */
async function openIdle({ port }: TestSystem, protocol: string): Promise<void> {
  const options = { host: "127.0.0.1", port, ALPNProtocols: [protocol], rejectUnauthorized: false };
  const socket = connectTls({ ...options, localAddress: ATTACKER } as never);
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await Promise.race([once(socket, "secureConnect"), once(socket, "close")]);
}

async function expectOthersServed(system: TestSystem): Promise<void> {
  for (const visitor of ["h1", "h2", "h3"] as const) {
    const [load] = await probe(system, visitor, [`https://127.0.0.1:${system.port}/`]);
    expect(load, visitor).toMatchObject({ protocol: visitor, status: 200 });
  }
}

it.each(["http/1.1", "h2"])("idle connections of one client over %s leave descriptors to others", async (protocol) => {
  const { system } = await startSmallEdge();
  for (let i = 0; i < CONNECTIONS; i++) await openIdle(system, protocol);
  // A quarter of half of the descriptors are the attacker's. The edge closes what is more than that while it serves the next ones.
  const open = (): number => readdirSync(`/proc/${system.edgePid()}/fd`).length;
  await expect.poll(open, { timeout: 15_000 }).toBeLessThan(DESCRIPTORS / 2);
  await expectOthersServed(system);
});

it("idle connections of one client over QUIC, which take no descriptors, are as few", async () => {
  const { system, openConnections } = await startSmallEdge();
  const site = `https://127.0.0.1:${system.port}/`;
  const options = ["-protocol", "h3", "-ca", join(system.stateDir, "dev-cert.pem"), "-from", ATTACKER];
  const attacker = spawn(PEER_PROGRAM, ["probe", ...options, "-resting", String(CONNECTIONS), site], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void attacker.kill());
  let answered = 0;
  for await (const line of createInterface({ input: attacker.stdout })) {
    expect(JSON.parse(line)).toMatchObject({ status: 200 });
    if (++answered === CONNECTIONS) break;
  }
  expect(answered).toBe(CONNECTIONS);
  // The edge closes what is too much while the next connections are served.
  await until("no more than a client's share", async () => {
    const open = await openConnections();
    return (open > 0 && open <= DESCRIPTORS / 8) || undefined;
  });
  await expectOthersServed(system);
});
