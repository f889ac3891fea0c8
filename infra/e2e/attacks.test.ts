// Only here: what one client can do to the others. All are on this machine, with different loopback addresses.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type SecureClientSessionOptions,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { EDGE_PROGRAM } from "../setup/build.ts";
import { startEdge } from "../workerd/edge.ts";
import { startWorkerd } from "../workerd/workerd.ts";
import { portOf, startTestSystem, testFolder, TOKEN, until } from "./harness.ts";

const ATTACKER = "127.0.0.66";
const VISITOR = "127.0.0.2";

/** An HTTP/2 connection from a loopback address. */
async function connectFrom(
  localAddress: string,
  port: number,
  options: SecureClientSessionOptions = {},
): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://localhost:${port}`, {
    ...options,
    createConnection: () =>
      connectTls({ host: "127.0.0.1", port, localAddress, ALPNProtocols: ["h2"], rejectUnauthorized: false } as never),
  });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  // The client must know the server's limit of streams first: it queues further streams itself.
  await once(session, "remoteSettings");
  return session;
}

/** Sends a request over this connection. Returns the status and the whole body. */
async function get(
  session: ClientHttp2Session,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; ms: number }> {
  const began = performance.now();
  const stream = session.request({ ":path": path, accept: "text/html", ...headers });
  const [answered] = (await once(stream, "response")) as [Record<string, number>];
  let body = "";
  for await (const chunk of stream.setEncoding("utf8")) body += chunk;
  return { status: answered[":status"] ?? 0, body, ms: performance.now() - began };
}

function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** What a process holds of the machine's memory in MB: now, or at most since its start (proc(5), VmHWM). */
function memoryMb(pid: number, field: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]) / 1024;
}

/** An origin that answers pages, and never answers under /hang. */
async function startHangingOrigin(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/hang") === true) return;
    request.resume();
    response.end("page");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts the system with a workerd that may open only this many descriptors. */
async function startBounded(descriptors: number): Promise<{ port: number; pid: number; failed: Promise<string> }> {
  const stateDir = testFolder();
  const workerd = await startWorkerd({ stateDir, origin: await startHangingOrigin(), onErrorLine: () => undefined });
  onTestFinished(() => workerd.stop());
  const limits = ["--pid", String(workerd.pid()), `--nofile=${descriptors}:${descriptors}`];
  expect(spawnSync("prlimit", limits).status).toBe(0);
  const edge = await startEdge({
    program: EDGE_PROGRAM,
    listen: ["127.0.0.1:0"],
    upstream: `unix:${workerd.visitorsSocket}`,
    samples: `unix:${workerd.samplesSocket}`,
    stateDir,
    onErrorLine: () => undefined,
  });
  onTestFinished(() => edge.program.stop());
  return { port: portOf(edge.addresses[0] ?? ""), pid: workerd.pid(), failed: workerd.failed };
}

it.each([
  ["POSTs that never end", { ":method": "POST", ":path": "/upload" }],
  ["GETs that the origin never answers", { ":method": "GET", ":path": "/hang" }],
])(
  "30 connections with 240 %s each take no descriptors from other clients, even if workerd has 1,024",
  async (_, head) => {
    const { port, pid, failed } = await startBounded(1_024);
    const visitor = await connectFrom(VISITOR, port);
    expect(await get(visitor, "/")).toMatchObject({ status: 200, body: "page" });

    let refused = 0;
    const attackers = await Promise.all(Array.from({ length: 30 }, () => connectFrom(ATTACKER, port)));
    for (const session of attackers)
      for (let i = 0; i < 240; i++) {
        const stream: ClientHttp2Stream = session.request(head, { endStream: head[":method"] === "GET" });
        stream.on("error", () => undefined);
        stream.on("response", (headers) => {
          if (headers[":status"] === 503) refused++;
        });
        if (head[":method"] === "POST") stream.write("begun");
      }
    // Wait until the edge has refused the requests above its limit. The others stay open.
    await until("the refusals", () => (refused > 30 * 240 * 0.9 ? true : undefined), 30_000);
    for (let i = 0; i < 20; i++) expect(await get(visitor, "/")).toMatchObject({ status: 200, body: "page" });
    expect(openDescriptors(pid)).toBeLessThan(1_024 / 2);

    for (const session of attackers) session.destroy();
    await until("the descriptors are given back", () => (openDescriptors(pid) < 64 ? true : undefined), 30_000);
    expect(await Promise.race([failed, get(visitor, "/")])).toMatchObject({ status: 200 });
  },
);

it("responses that nobody reads take a bounded part of workerd's memory, and end", async () => {
  const system = await startTestSystem({
    edgeFlags: ["-config", "max-requests-client=20", "-config", "unread-timeout=3s"],
  });
  const visitor = await connectFrom(VISITOR, system.port);
  expect((await get(visitor, "/")).status).toBe(200);
  const quietMb = memoryMb(system.workerd.pid());

  const ended = { streams: 0 };
  const attacker = await connectFrom(ATTACKER, system.port, { settings: { initialWindowSize: 1000 } });
  for (let i = 0; i < 90; i++) {
    const stream = attacker.request({ ":path": "/image/1000000000" });
    stream.on("error", () => undefined);
    stream.on("close", () => ended.streams++);
    // Node ends a stream only once somebody has read it.
    stream.on("response", (headers) => (headers[":status"] === 503 ? stream.resume() : undefined));
  }
  // Each of them costs workerd 2.7 MB. The edge refuses those above the limit, and ends the rest after the timeout.
  await until("the end of those above the limit", () => (ended.streams >= 70 ? true : undefined), 60_000);
  expect((await get(visitor, "/")).status).toBe(200);
  await until("the end of the others", () => (ended.streams === 90 ? true : undefined), 60_000);
  expect(memoryMb(system.workerd.pid(), "VmHWM") - quietMb).toBeLessThan(90 * 2.7 * 0.75);
});

it("an operator's call gets through while attackers hold all other places", async () => {
  const origin = await startHangingOrigin();
  const system = await startTestSystem({ origin, edgeFlags: ["-max-requests", "8"] });
  const attacker = await connectFrom(ATTACKER, system.port);
  for (let i = 0; i < 90; i++) attacker.request({ ":path": "/hang" }).on("error", () => undefined);
  const operator = await connectFrom(VISITOR, system.port);
  await until("no place for a page", async () => ((await get(operator, "/")).status === 503 ? true : undefined));
  const call = await get(operator, "/_h3/v1/activation", { authorization: `Bearer ${TOKEN}` });
  expect(call).toMatchObject({ status: 200 });
});
