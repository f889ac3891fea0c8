import { request } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ClientRecord } from "../../policy-api/api/contract/decisions.ts";
import { startTestSystem, type TestSystem, TOKEN } from "./harness.ts";

// Only here: what one network can do to what is known of others, by samples as the edge posts them.

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
function closing(clientAddress: string): object {
  const counters = { packetsSent: PACKETS, packetsLost: 0, bytesSent: 1_000_000, busyMs: 400 };
  const named = { clientAddress, connectionId: `c${clientAddress}`, transport: "tcp" };
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
