import { request } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ClientRecord, Explanation } from "../../policy-api/api/contract/decisions.ts";
import published from "../../policy-api/policies/published.json" with { type: "json" };
import { startTestSystem, type TestSystem, TOKEN, until } from "./harness.ts";

// Only here: what one client or one network can do to what is known of others, by samples as the edge posts them.

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

const PACKETS = 700;
const RTT_MS = 30;

/** The closing sample of a page of 1 MB. */
function closing(clientAddress: string, packetsLost = 0, connectionId = `c${clientAddress}`): object {
  const counters = { packetsSent: PACKETS, packetsLost, bytesSent: 1_000_000, busyMs: 400 };
  const named = { clientAddress, connectionId, transport: "tcp" };
  return { ...named, atMs: Date.now(), closing: true, rttMs: RTT_MS, ...counters };
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
  // An isolate sends the objects within ten seconds what it has gathered.
  await expect
    .poll(
      async () => {
        const known = await Promise.all(others.map((address) => lookUp(system, address)));
        return known.filter(({ connections }) => connections?.[0]?.packets === PACKETS).length;
      },
      { timeout: 30_000, interval: 250 },
    )
    .toBe(60);
});

/** The published gains, where most clients are on clean paths: whoever is not known is better off on HTTP/2. */
const MOSTLY_CLEAN = { ...published, method: { ...published.method, mix: [0.9, 0.07, 0.03] } };

/** What a client would be offered on its next page, and why. */
async function explained({ workerd }: TestSystem, client: string): Promise<Explanation["decision"]> {
  const question = { client, request: { transport: "tcp", rttMs: RTT_MS }, policy: MOSTLY_CLEAN };
  const { decision } = (await post(workerd.visitorsSocket, "/_h3/v1/decisions/explain", question)) as Explanation;
  return decision;
}

const total = (clients: readonly number[] = []): number => clients.reduce((sum, n) => sum + n, 0);

it("a client that loses 30 % of its packets does not get its neighbour offered HTTP/3", async () => {
  const system = await startTestSystem();
  const [dropper, neighbour] = ["192.0.2.1", "192.0.2.2"] as const;
  const before = await explained(system, neighbour);
  expect(before).toMatchObject({ advertise: { kind: "nothing" }, reason: "h2-faster" });

  // However many connections it drops them on.
  const dropped = 0.3 * PACKETS;
  await postSamples(
    system,
    Array.from({ length: 40 }, (_, i) => closing(dropper, dropped, `c${i}`)),
  );
  const { connections } = await until("the dropper is known", async () => {
    const record = await lookUp(system, dropper);
    return record.connections === undefined || record.connections.length === 0 ? undefined : record;
  });
  expect(connections?.[0]).toMatchObject({ packets: PACKETS, lost: dropped });
  expect(await explained(system, dropper)).toMatchObject({ advertise: { kind: "h3" }, reason: "h3-faster" });

  // Its network and its site have heard of it, as of one client.
  const record = await lookUp(system, neighbour);
  expect(record).not.toHaveProperty("connections");
  for (const level of [record.network, record.site]) {
    expect(total(level)).toBeGreaterThan(0.5);
    expect(total(level)).toBeLessThanOrEqual(1);
  }
  const after = await explained(system, neighbour);
  expect(after).toMatchObject({ advertise: { kind: "nothing" }, reason: "h2-faster" });
  const shift = (after.belief?.weights.at(-1) ?? 1) - (before.belief?.weights.at(-1) ?? 0);
  expect(shift).toBeGreaterThan(0);
  expect(shift).toBeLessThan(0.07);
});
