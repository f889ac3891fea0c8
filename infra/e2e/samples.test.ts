// Only here: the kernel's and QUIC's counts of a real connection reach the object.
import { createServer, request as httpRequest } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import type { PathSample } from "../../policy-api/decision/sample.ts";
import { fixed, probe, startTestSystem, testFolder, until } from "./harness.ts";
import { rowsOnDisk } from "./objects.ts";
import { startRelay } from "./relay.ts";

/** Sits between the edge and the worker's internal listener, passes everything on, and keeps the samples. */
async function startTee(): Promise<{ path: string; samples: PathSample[]; connect: (target: string) => void }> {
  const path = join(testFolder(), "tee");
  const samples: PathSample[] = [];
  // The edge asks for a heartbeat before the test can say where the worker listens.
  const target = Promise.withResolvers<string>();
  const server = createServer((incoming, reply) => {
    void (async () => {
      const body = await text(incoming);
      // A heartbeat has no body.
      if (body !== "") samples.push(...(JSON.parse(body) as { samples: PathSample[] }).samples);
      const forward = httpRequest({
        socketPath: await target.promise,
        method: incoming.method ?? "GET",
        path: incoming.url ?? "/",
        headers: { host: "localhost" },
      });
      forward.end(body);
      const [answer] = (await once(forward, "response")) as [NodeJS.ReadableStream & { statusCode: number }];
      reply.writeHead(answer.statusCode);
      answer.pipe(reply);
    })().catch(() => reply.destroy()); // The worker has ended: so the edge sees.
  });
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    path,
    samples,
    connect: target.resolve,
  };
}

const IMAGE_BYTES = 3_000_000;

/** The path of the UDP datagrams. The relay cannot drop TCP's packets, so TCP runs on the loopback as it is. */
it.each([
  ["h1", "tcp", undefined],
  ["h2", "tcp", undefined],
  ["h3", "quic", { rateBps: 5_000_000 }],
  ["h3", "quic", { rateBps: 5_000_000, dropEvery: 25 }],
] as const)("one image over %s, then closed: its path is in the object (%s, %j)", async (protocol, transport, path) => {
  const tee = await startTee();
  const system = await startTestSystem({ edgeFlags: ["-samples", `unix:${tee.path}`] });
  tee.connect(system.workerd.samplesSocket);
  await system.putPolicy(fixed("observe"));
  const relay = path === undefined ? undefined : await startRelay(system.port, "127.0.3.1", path);

  const [load] = await probe(system, protocol, [
    `https://localhost:${relay?.port ?? system.port}/image/${IMAGE_BYTES}`,
  ]);
  expect(load).toMatchObject({ status: 200, bytes: IMAGE_BYTES });

  const closing = await until("closing sample", () => tee.samples.find((sample) => sample.closing));
  // A sample of the open connection may have made the row.
  const client = await until("the closed connection's row", () => {
    const [row] = rowsOnDisk(system.stateDir).clients;
    return row?.connections[0]?.closed === true ? row : undefined;
  });
  expect(tee.samples.filter((sample) => sample.closing)).toHaveLength(1);
  expect(rowsOnDisk(system.stateDir).clients).toHaveLength(1);

  // The sender's counters are consistent ...
  const sent = closing.packetsSent ?? 0;
  expect(closing.transport).toBe(transport);
  expect(closing.bytesSent).toBeGreaterThan(IMAGE_BYTES);
  // A machine that stands still for longer than TCP's retransmission timeout has it send a window again, though the loopback loses nothing.
  expect(closing.bytesSent).toBeLessThan(IMAGE_BYTES * (transport === "tcp" ? 2 : 1.15));
  expect(sent).toBeGreaterThan(IMAGE_BYTES / 65_536);
  expect(closing.rttMs).toBeGreaterThan(0);
  expect(closing.rttMs).toBeLessThan(1000);
  if (relay !== undefined && path !== undefined && "dropEvery" in path) {
    const dropped = relay.down.dropped / relay.down.packets;
    expect(dropped).toBeCloseTo(0.04, 2);
    expect((closing.packetsLost ?? 0) / sent).toBeGreaterThan(dropped * 0.7);
    expect((closing.packetsLost ?? 0) / sent).toBeLessThan(dropped * 1.6);
  }
  // The edge was busy with it while the client loaded it, if scheduling is left aside.
  expect(closing.busyMs).toBeGreaterThan(0);
  expect(closing.busyMs).toBeLessThan((load?.ms ?? 0) + 200);
  // ... and the object has the same figures for the client.
  const { packetsSent, packetsLost, bytesSent, busyMs, minRttMs: rttMs, deliveryRateBps } = closing;
  const figures = { packetsSent, packetsLost, bytesSent, busyMs, rttMs, deliveryRateBps };
  expect(client.connections).toEqual([
    { id: closing.connectionId, transport, atMs: closing.atMs, closed: true, ...figures },
  ]);
  // The rate is close to the relay's. The kernel's is that of the latest few packets: on a loopback, where nothing holds them back, it says
  // how busy the machine was at that moment.
  const rateBps = path?.rateBps ?? (IMAGE_BYTES / (load?.ms ?? 0)) * 1000;
  expect(closing.deliveryRateBps).toBeGreaterThan(rateBps * (path === undefined ? 0.1 : 0.5));
  if (path !== undefined) expect(closing.deliveryRateBps).toBeLessThan(rateBps * 2);
});
