import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { fixed, probe, startTestSystem, TOKEN, until } from "./harness.ts";
import { rowsOnDisk } from "./objects.ts";
import { callApi } from "../workerd/policy-client.ts";
import { CONNECTIONS } from "../../policy-api/decision/connections.ts";

const LOST_AT_MOST_MS = 10_000;
/** What each connection loads. */
const BYTES = 200_000;

it("kill -9 of workerd under load loses no acknowledged policy, and at most the last 10 s of what clients showed", async () => {
  const system = await startTestSystem();
  const ended = new AbortController();
  const closedAtMs: number[] = [];
  const acknowledged: { version: number; maxS: number }[] = [];

  const load = (async () => {
    while (!ended.signal.aborted) {
      try {
        await probe(system, "h2", [`https://localhost:${system.port}/image/${BYTES}`]);
        closedAtMs.push(Date.now());
      } catch {
        // A load may fail during the crash.
      }
      // Make fewer connections in 10 s than an isolate keeps for one client (worker/report-buffer.ts).
      await sleep(200);
    }
  })();
  const puts = (async () => {
    for (let maxS = 1; !ended.signal.aborted; maxS++) {
      try {
        acknowledged.push({ version: await system.putPolicy(fixed("fixed-h3", maxS)), maxS });
      } catch {
        return;
      }
      await sleep(20);
    }
  })();

  // Crash right before the isolate's third report to the object, when most would be lost.
  await until("the first report", () => rowsOnDisk(system.stateDir).clients[0]);
  await sleep(2 * LOST_AT_MOST_MS - 500);
  const killedAtMs = Date.now();
  await system.workerd.crash();
  ended.abort();
  await Promise.all([load, puts]);

  const active = await callApi(system.workerd.visitorsSocket, TOKEN, "GET", "activation");
  const { everyone: version } = active.json as { everyone: number };
  const stored = await callApi(system.workerd.visitorsSocket, TOKEN, "GET", `policies/${version}`);
  const { policy } = stored.json as { policy: { ma: { maxS: number } } };
  const last = acknowledged.at(-1);
  expect(acknowledged.length).toBeGreaterThan(50);
  // One more version may be on disk, whose acknowledgement was lost.
  expect([last?.version, (last?.version ?? 0) + 1]).toContain(version);
  expect(policy.ma.maxS).toBe(version === last?.version ? last.maxS : (last?.maxS ?? 0) + 1);
  expect(acknowledged.map((put) => put.version)).toEqual(acknowledged.map((_, i) => i + 1));

  // Of the newest connections, all that had closed 10 s before are in the row, with all that they sent.
  const connections = rowsOnDisk(system.stateDir).clients[0]?.connections ?? [];
  expect(killedAtMs - (connections[0]?.atMs ?? 0)).toBeLessThan(LOST_AT_MOST_MS);
  expect(closedAtMs.filter((ms) => ms < killedAtMs - LOST_AT_MOST_MS).length).toBeGreaterThan(CONNECTIONS);
  expect(connections).toHaveLength(CONNECTIONS);
  const perConnection = BYTES / 65_536;
  for (const { closed, packetsSent, bytesSent } of connections) {
    expect(closed).toBe(true);
    expect(packetsSent).toBeGreaterThan(perConnection * 0.9);
    expect(bytesSent).toBeGreaterThan(BYTES);
  }

  // The system goes on serving and learning.
  const [after] = await probe(system, "h2", [`https://localhost:${system.port}/`], ["-header", "Accept: text/html"]);
  expect(after?.headers["Alt-Svc"]?.[0]).toContain("h3=");
  await until("a newer sample", () => {
    const lastAtMs = rowsOnDisk(system.stateDir).clients[0]?.connections[0]?.atMs ?? 0;
    return lastAtMs > killedAtMs ? true : undefined;
  });
});
