// Only here: descriptors of both processes after websockets that end in every way.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { json } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { startTestSystem, type TestSystem, until } from "./harness.ts";

/** How many websockets come and go. `WEBSOCKETS=10000` takes about four minutes. */
const WEBSOCKETS = Number(process.env["WEBSOCKETS"] ?? 100);
/** At a time. */
const AT_A_TIME = 50;
/** With so many in flight, the edge still has places for as many again. */
const IN_FLIGHT = 500;
/** After so many bytes the origin stops to read, as one does whose own client does not read. */
const ECHOED = 10_000;

/** An origin of websockets that echoes the first bytes, and then neither reads nor writes. */
async function startDeafOrigin(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    let echoed = -1;
    socket.on("data", (data) => {
      if (echoed < 0) {
        const key = /sec-websocket-key: (.*)\r/i.exec(data.toString("latin1"))?.[1] ?? "";
        const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
        );
        echoed = 0;
        return;
      }
      echoed += data.length;
      // One binary frame of up to 65,535 bytes (RFC 6455, section 5.2).
      const frame = data.subarray(0, 1_000);
      socket.write(Buffer.concat([Buffer.from([0x82, 126, frame.length >> 8, frame.length & 255]), frame]));
      if (echoed > ECHOED) socket.pause();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The n-th client, with an address of its own. It opens a websocket, sends more than the way to the origin holds, reads nothing, and leaves. */
async function sendAndLeave(n: number, port: number, frame: Buffer): Promise<boolean> {
  const options = { host: "127.0.0.1", port, ALPNProtocols: ["http/1.1"], rejectUnauthorized: false };
  const socket = connectTls({ ...options, localAddress: `127.1.${n >> 8}.${n & 255}` } as never);
  socket.on("error", () => undefined);
  try {
    await once(socket, "secureConnect");
    socket.write(
      `GET /socket HTTP/1.1\r\nHost: localhost:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    );
    const [head] = (await once(socket, "data")) as [Buffer];
    socket.pause();
    for (let i = 0; i < 200; i++) socket.write(frame);
    // The echoes must wait in every buffer on their way before the client leaves, and nothing says when they do.
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    return head.toString("latin1").startsWith("HTTP/1.1 101");
  } finally {
    socket.destroy();
  }
}

interface Health {
  readonly worker: { readonly descriptors: number };
  readonly requests: { readonly inFlight: number };
}

async function healthOf({ healthSocket }: TestSystem): Promise<Health> {
  const asked = request({ socketPath: healthSocket, path: "/health", headers: { host: "localhost" } }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return (await json(answer)) as Health;
}

/** What a process has open: a file's path, or "socket:[N]" (proc(5)). */
const openOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((n) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${n}`);
    } catch {
      return []; // closed meanwhile
    }
  });
/** The objects open files of their own as they learn of visitors; a websocket takes sockets. */
const sockets = (pid: number): number => openOf(pid).filter((what) => what.startsWith("socket:")).length;

it(
  "websockets that end leave nothing behind, whatever their origin does",
  async () => {
    const system = await startTestSystem({ origin: await startDeafOrigin() });
    // A masked binary frame of 60,000 bytes; its mask is 0.
    const frame = Buffer.concat([Buffer.from([0x82, 0xfe, 0xea, 0x60, 0, 0, 0, 0]), Buffer.alloc(60_000, 1)]);
    await sendAndLeave(1, system.port, frame);
    const before = { workerd: sockets(system.workerd.pid()), edge: sockets(system.edgePid()) };

    let answered = 0;
    for (let i = 0; i < WEBSOCKETS; i += AT_A_TIME) {
      // Beyond the share of requests that last, the edge refuses more.
      await until(
        "room for more",
        async () => (await healthOf(system)).requests.inFlight < IN_FLIGHT || undefined,
        60_000,
      );
      const all = await Promise.all(
        Array.from({ length: AT_A_TIME }, (_, k) => sendAndLeave(i + k + 2, system.port, frame)),
      );
      answered += all.filter(Boolean).length;
    }
    expect(answered).toBeGreaterThan(WEBSOCKETS * 0.9);
    const left = async (): Promise<{ workerd: number; edge: number; unsaid: number; inFlight: number }> => {
      const health = await healthOf(system);
      return {
        workerd: sockets(system.workerd.pid()) - before.workerd,
        edge: sockets(system.edgePid()) - before.edge,
        // What health does not tell an operator of workerd's descriptors.
        unsaid: openOf(system.workerd.pid()).length - health.worker.descriptors,
        inFlight: health.requests.inFlight,
      };
    };
    await until(
      "everything is given back",
      async () => {
        const { workerd, edge, unsaid, inFlight } = await left();
        return (workerd <= 5 && edge <= 5 && unsaid <= 5 && inFlight === 0) || undefined;
      },
      30_000,
    ).catch(async (error: unknown) => {
      throw new Error(`left: ${JSON.stringify(await left())}`, { cause: error });
    });
  },
  60_000 + WEBSOCKETS * 30,
);
