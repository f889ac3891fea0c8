import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { estimateAt } from "../policy-api/core/estimate.ts";
import type { PathState } from "../policy-api/core/estimator.ts";
import type { PathSample } from "../policy-api/core/sample.ts";
import { RETENTION_MS, ROWS_MAX } from "./path-rows.ts";
import type { ClientReport } from "./path-store-api.ts";
import { bindings, freshStorage } from "./testing.ts";

freshStorage();

const keys = { client: "c1", network: "n1" };
const object = () => bindings.PATHS.get(bindings.PATHS.idFromName("local:0"));
const sample = (over: Partial<PathSample> = {}): PathSample => ({
  transport: "quic",
  connectionId: "a",
  atMs: Date.now(),
  rttMs: 20,
  packetsSent: 1000,
  packetsLost: 20,
  closing: true,
  ...over,
});
const report = (over: Partial<ClientReport> = {}): ClientReport => ({
  ...keys,
  samples: [sample()],
  answers: [],
  ...over,
});
const lookUp = async () => object().lookUp(keys);
const estimate = (state: unknown) => estimateAt(state as PathState, Date.now());
const rows = async (): Promise<Record<string, SqlStorageValue>[]> =>
  runInDurableObject(object(), (_, state) => state.storage.sql.exec("SELECT * FROM paths ORDER BY key").toArray());
const tables = async (): Promise<string[]> =>
  runInDurableObject(object(), (_, state) =>
    state.storage.sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
      )
      .toArray()
      .map((row) => row.name),
  );

describe("PathStore", () => {
  it("knows nothing, and a look-up leaves nothing behind", async () => {
    expect(await lookUp()).toEqual({});
    expect(await tables()).toEqual([]);
  });

  it("turns samples into what is known of the client and of its network", async () => {
    await object().record([report()]);
    const reply = await lookUp();
    for (const state of [reply.client, reply.network]) {
      expect(estimate(state)?.quic).toMatchObject({ minRttMs: 20 });
      expect(estimate(state)?.quic?.lossRatio).toBeCloseTo(0.02, 9);
    }
    const neighbour = await object().lookUp({ client: "c2", network: "n1" });
    expect(neighbour.client).toBeUndefined();
    expect(neighbour.network).toEqual(reply.network);
  });

  it("keeps what a client may hold of our offers", async () => {
    const nowMs = Date.now();
    await object().record([report({ samples: [], answers: [{ atMs: nowMs, offerUntilMs: nowMs + 5000 }] })]);
    expect((await lookUp()).offers).toEqual({ untilMs: nowMs + 5000, answeredAtMs: nowMs, offering: true });
    expect((await rows()).map((row) => row["key"])).toEqual(["client c1"]);
  });

  it("writes a row at most every ten seconds, and the alarm writes what waited", async () => {
    await object().record([report()]);
    // Two rows with an index entry each.
    expect(await object().writes()).toEqual({ rows: 4, alarms: 1 });
    for (let i = 1; i <= 20; i++)
      await object().record([report({ samples: [sample({ atMs: Date.now() + i, packetsSent: 1000 + i })] })]);
    // The alarm now rings sooner.
    expect(await object().writes()).toEqual({ rows: 4, alarms: 2 });
    expect(JSON.stringify(await rows())).not.toContain('\\"packetsSent\\":1020');
    expect(await runDurableObjectAlarm(object())).toBe(true);
    expect(JSON.stringify(await rows())).toContain('\\"packetsSent\\":1020');
    expect(await object().writes()).toEqual({ rows: 6, alarms: 3 });
  });

  it("what waits is written ten seconds after the last write, not after the last report", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const beganMs = Date.now();
      await object().record([report()]);
      vi.setSystemTime(beganMs + 9_998);
      await object().record([report({ samples: [sample({ packetsSent: 2000 })] })]);
      const alarm = await runInDurableObject(object(), (_, state) => state.storage.getAlarm());
      expect(alarm).toBe(beganMs + 10_000);
    } finally {
      vi.useRealTimers();
    }
  });

  it("takes a corrupt row for one that is not there, and mends it", async () => {
    await object().record([report()]);
    for (const [column, value] of [
      ["state", "{"],
      ["state", '{"tcp":{"loss":1}}'],
      ["state", "null"],
    ] as const) {
      await runInDurableObject(object(), (_, state) => {
        state.storage.sql.exec(`UPDATE paths SET ${column} = ?`, value);
      });
      await evictDurableObject(object());
      expect(await lookUp()).toEqual({});
    }
    await object().record([report()]);
    expect(estimate((await lookUp()).client)?.quic?.packets).toBeCloseTo(1000, 0);
  });

  it("forgets down to the schema when the last row has expired", async () => {
    await object().record([report()]);
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec("UPDATE paths SET last_at_ms = ?", Date.now() - RETENTION_MS);
    });
    await evictDurableObject(object());
    await runDurableObjectAlarm(object());
    expect(await tables()).toEqual([]);
    expect(await runInDurableObject(object(), (_, state) => state.storage.getAlarm())).toBeNull();
    expect(await lookUp()).toEqual({});
    await object().record([report()]);
    expect(await rows()).toHaveLength(2);
  });

  it("wakes for the next row to expire while there is one", async () => {
    await object().record([report()]);
    await runDurableObjectAlarm(object());
    const alarm = await runInDurableObject(object(), (_, state) => state.storage.getAlarm());
    expect(alarm).toBeGreaterThan(Date.now() + RETENTION_MS - 60_000);
    expect(alarm).toBeLessThanOrEqual(Date.now() + RETENTION_MS);
    // Many rows that expire one after another do not make it look through the table more than once in an hour.
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec(
        "UPDATE paths SET last_at_ms = ? WHERE key = 'client c1'",
        Date.now() - RETENTION_MS + 1000,
      );
    });
    await evictDurableObject(object());
    await runDurableObjectAlarm(object());
    const next = await runInDurableObject(object(), (_, state) => state.storage.getAlarm());
    expect(next).toBeGreaterThan(Date.now() + 3_500_000);
    expect(next).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(await rows()).toHaveLength(2);
  });

  it("is bounded in rows: a full table gives up the longest unseen", async () => {
    await object().record([report()]);
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec(
        `INSERT INTO paths WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
         SELECT 'client old' || n, '{}', 0, 0, 0, n FROM i`,
        ROWS_MAX - 2,
      );
    });
    await evictDurableObject(object());
    await object().record([report({ client: "c9", network: "n1" })]);
    const keptKeys = new Set((await rows()).map((row) => row["key"]));
    expect(keptKeys.size).toBeLessThanOrEqual(ROWS_MAX - ROWS_MAX / 20 + 1);
    for (const key of ["client c1", "client c9", "network n1"]) expect(keptKeys).toContain(key);
    expect(keptKeys).not.toContain("client old1");
  });
});
