import { request } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ClientRecord } from "../../policy-api/contract/clients.ts";
import { SHARE_PACKETS } from "../../policy-api/core/estimator.ts";
import { KNOWN_PACKETS } from "../../policy-api/core/path.ts";
import { startTestSystem, type TestSystem, TOKEN } from "./harness.ts";

// What one client or one network can do to what is known of others, by samples as the edge posts them.

function post(socketPath: string, path: string, body: object): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const sent = request(
    { socketPath, path, method: "POST", headers: { host: "localhost", authorization: `Bearer ${TOKEN}` } },
    (response) => void json(response).then(resolve, reject),
  );
  sent.on("error", reject);
  sent.setHeader("content-type", "application/json");
  sent.end(JSON.stringify(body));
  return promise;
}

/** The closing sample of a page of 1 MB. */
function closing(clientAddress: string, packetsLost = 0): object {
  const counters = { packetsSent: 700, packetsLost, bytesSent: 1_000_000 };
  const connectionId = `c${clientAddress}`;
  return { clientAddress, connectionId, transport: "tcp", atMs: Date.now(), closing: true, rttMs: 30, ...counters };
}

async function postSamples({ workerd }: TestSystem, samples: readonly object[]): Promise<void> {
  expect(await post(workerd.samplesSocket, "/samples", { samples })).toMatchObject({ accepted: samples.length });
}

async function lookUp({ workerd }: TestSystem, address: string): Promise<ClientRecord> {
  return (await post(workerd.visitorsSocket, "/_h3/v1/clients/look-up", { address })) as ClientRecord;
}

it("a network that shows 477 new clients a second keeps no other client from being known", async () => {
  const system = await startTestSystem();
  const others = Array.from({ length: 60 }, (_, i) => `2001:db8:${(i + 1).toString(16)}::1`);
  let shown = 0;
  for (let second = 0; second < 12; second++) {
    const crowd = Array.from({ length: 477 }, () => closing(`2001:db9:0:${(shown++).toString(16)}::1`));
    await postSamples(system, crowd);
    await postSamples(
      system,
      others.slice(second * 5, second * 5 + 5).map((address) => closing(address)),
    );
    await wait(1_000);
  }
  // An isolate tells the objects what it has gathered within ten seconds.
  await wait(10_500);
  const known = await Promise.all(others.map((address) => lookUp(system, address)));
  expect(known.filter(({ client }) => (client?.tcp?.packets ?? 0) >= KNOWN_PACKETS)).toHaveLength(60);
});

it("a client that loses 30 % of its packets makes nothing known of its neighbour", async () => {
  const system = await startTestSystem();
  await postSamples(system, [closing("192.0.2.1", 210)]);
  await wait(500);
  expect((await lookUp(system, "192.0.2.1")).client?.tcp?.lossRatio).toBeCloseTo(0.3, 2);
  const neighbour = await lookUp(system, "192.0.2.2");
  expect(neighbour).not.toHaveProperty("client");
  expect(neighbour.network?.tcp?.packets ?? 0).toBeLessThanOrEqual(SHARE_PACKETS);
});
