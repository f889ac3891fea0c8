import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { estimateAt } from "../policy-api/core/estimate.ts";
import { type PathState, SHARE_PACKETS } from "../policy-api/core/estimator.ts";
import { type Answer, NO_OFFER } from "../policy-api/core/offers.ts";
import type { PathSample } from "../policy-api/core/sample.ts";
import { RETENTION_MS, ROWS_MAX } from "./path-rows.ts";
import type { ClientReport } from "./client-report.ts";
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
    expect((await lookUp()).offers).toEqual({
      ...NO_OFFER,
      untilMs: nowMs + 5000,
      answeredAtMs: nowMs,
      offering: true,
    });
    expect((await rows()).map((row) => row["key"])).toEqual(["client c1"]);
  });

  it("keeps over an eviction what a client did with them", async () => {
    const nowMs = Date.now();
    const answer = (secondsAgo: number, earlierOffer: Answer["earlierOffer"]): Answer => {
      const atMs = nowMs - secondsAgo * 1000;
      return { atMs, offerUntilMs: atMs + 60_000, earlierOffer };
    };
    const answers = [answer(90, "ignored"), answer(60, "taken"), answer(30, "ignored"), answer(10, "ignored")];
    await object().record([report({ samples: [], answers })]);
    const held = (await lookUp()).offers;
    expect(held).toMatchObject({ takenAtMs: nowMs - 60_000, answeredAtMs: nowMs - 10_000, offering: true });
    expect(held?.ignoredAtMs).toHaveLength(3);
    await evictDurableObject(object());
    expect((await lookUp()).offers).toEqual(held);
  });

  it.each(["{", '"[]"', "[-1]", "null"])("ignored offers that cannot be read, %s, are none", async (text) => {
    await object().record([report({ answers: [{ atMs: Date.now(), offerUntilMs: 0, earlierOffer: "ignored" }] })]);
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec("UPDATE paths SET offers_ignored_at_ms = ?", text);
    });
    await evictDurableObject(object());
    expect((await lookUp()).offers?.ignoredAtMs).toEqual([]);
    expect(estimate((await lookUp()).client)?.quic?.packets).toBeCloseTo(1000, 0);
  });

  it("keeps what it met of an autonomous system, for its networks that nobody knows", async () => {
    await object().record([report({ asn: 64_500 }), report({ client: "c2", network: "n2", asn: 64_500 })]);
    const stranger = await object().lookUp({ client: "c3", network: "n3", asn: 64_500 });
    expect([stranger.client, stranger.network]).toEqual([undefined, undefined]);
    // A share of each network.
    expect(estimate(stranger.asn)?.quic?.packets).toBeCloseTo(2 * SHARE_PACKETS, 0);
    expect(await object().lookUp({ client: "c3", network: "n3", asn: 64_501 })).toEqual({});
    expect((await lookUp()).asn).toBeUndefined();
    expect((await rows()).map((row) => row["key"])).toEqual([
      "asn 64500",
      "client c1",
      "client c2",
      "network n1",
      "network n2",
    ]);
    await evictDurableObject(object());
    expect((await object().lookUp({ client: "c3", network: "n3", asn: 64_500 })).asn).toEqual(stranger.asn);
  });

  it("an answer alone is of the client, and of nobody above it", async () => {
    await object().record([report({ samples: [], answers: [{ atMs: Date.now(), offerUntilMs: 0 }], asn: 64_500 })]);
    expect((await rows()).map((row) => row["key"])).toEqual(["client c1"]);
  });

  it("a client's path that changes is not its network's", async () => {
    const nowMs = Date.now();
    const clean = sample({ atMs: nowMs - 60_000, packetsLost: 0 });
    const lossy = sample({ connectionId: "b", atMs: nowMs, packetsLost: 50 });
    await object().record([report({ samples: [lossy, clean] })]);
    const reply = await lookUp();
    expect(estimate(reply.client)?.quic?.lossRatio).toBeCloseTo(0.05, 9);
    expect(estimate(reply.client)?.quic).toHaveProperty("changedMsAgo");
    expect(estimate(reply.network)?.quic?.packets).toBeCloseTo(SHARE_PACKETS, 0);
    expect(estimate(reply.network)?.quic).not.toHaveProperty("changedMsAgo");
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

  it("sets an alarm again that is a minute late: workerd's list of alarms was lost", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const beganMs = Date.now();
      await object().record([report()]);
      const alarm = () => runInDurableObject(object(), (_, state) => state.storage.getAlarm());
      const lostMs = (await alarm()) ?? 0;
      expect(lostMs).toBeGreaterThan(beganMs);
      for (const [lateMs, isSetAgain] of [
        [60_000 - 1, false],
        [60_000, true],
      ] as const) {
        vi.setSystemTime(lostMs + lateMs);
        await object().record([report({ client: `c${lateMs}` })]);
        expect((await alarm()) !== lostMs).toBe(isSetAgain);
      }
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

  it("reads what an object of before offers were followed holds, and writes to it", async () => {
    const nowMs = Date.now();
    const state = {
      quic: {
        minRttMs: [[Math.floor(nowMs / 3_600_000), 20]],
        deliveryRateBps: [],
        loss: { packets: 1000, lost: 20, asOfMs: nowMs },
        lastAtMs: nowMs,
        baselines: [],
      },
    };
    await runInDurableObject(object(), (_, { storage }) => {
      // The first migration as it was released, and the table of versions after it.
      storage.sql.exec("CREATE TABLE schema_version (version INTEGER NOT NULL)");
      storage.sql.exec("INSERT INTO schema_version VALUES (1)");
      storage.sql.exec(`CREATE TABLE paths (
        key TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        offer_until_ms INTEGER NOT NULL,
        offer_answered_at_ms INTEGER NOT NULL,
        offering INTEGER NOT NULL,
        last_at_ms INTEGER NOT NULL
      )`);
      for (const key of ["client c1", "network n1"])
        storage.sql.exec(
          "INSERT INTO paths VALUES (?, ?, ?, ?, 1, ?)",
          key,
          JSON.stringify(state),
          nowMs + 5000,
          nowMs,
          nowMs,
        );
    });
    await evictDurableObject(object());
    const reply = await lookUp();
    expect(reply.offers).toEqual({ ...NO_OFFER, untilMs: nowMs + 5000, answeredAtMs: nowMs, offering: true });
    for (const held of [reply.client, reply.network])
      expect(estimate(held)?.quic).toMatchObject({ minRttMs: 20, lossRatio: 0.02 });

    const later: Answer = { atMs: nowMs + 1000, offerUntilMs: nowMs + 9000, earlierOffer: "ignored" };
    await object().record([report({ answers: [later] })]);
    await runDurableObjectAlarm(object());
    await evictDurableObject(object());
    expect((await lookUp()).offers).toMatchObject({ untilMs: nowMs + 9000, ignoredAtMs: [expect.any(Number)] });
    expect(estimate((await lookUp()).client)?.quic?.packets).toBeCloseTo(2000, 0);
    expect(await rows()).toHaveLength(2);
  });

  it("wakes for the next row to expire while there is one", async () => {
    await object().record([report()]);
    await runDurableObjectAlarm(object());
    const alarm = await runInDurableObject(object(), (_, state) => state.storage.getAlarm());
    expect(alarm).toBeGreaterThan(Date.now() + RETENTION_MS - 60_000);
    expect(alarm).toBeLessThanOrEqual(Date.now() + RETENTION_MS);
    // It reads the whole table at most once in an hour, even if many rows expire one after another.
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

  /** Puts rows of clients into the table: `columns` gives a row's network, packets and age of its last news, of `n`. */
  async function fill(count: number, columns: string): Promise<void> {
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec(
        `INSERT INTO paths (key, state, offer_until_ms, offer_answered_at_ms, offering, network, packets, last_at_ms)
         WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
         SELECT 'client filled' || n, '{}', 0, 0, 0, ${columns} FROM i`,
        count,
      );
    });
    await evictDurableObject(object());
  }
  const keptKeys = async () => new Set((await rows()).map((row) => row["key"]));

  it("is bounded in rows: a full table gives up the longest unseen", async () => {
    await object().record([report()]);
    await fill(ROWS_MAX - 2, "'n' || n, 500, n");
    await object().record([report({ client: "c9", network: "n1" })]);
    const kept = await keptKeys();
    expect(kept.size).toBeLessThanOrEqual(ROWS_MAX - ROWS_MAX / 20 + 1);
    for (const key of ["client c1", "client c9", "network n1"]) expect(kept).toContain(key);
    expect(kept).not.toContain("client filled1");
  });

  it("a network that shows new clients without end pushes out its own, and nobody else's", async () => {
    await object().record([report({ client: "quiet", network: "n0" })]);
    await fill(ROWS_MAX - 2, `'crowd', n % 300, ${Date.now()} + n`);
    await object().record([report({ client: "new", network: "n9" })]);
    const kept = await keptKeys();
    expect(kept.size).toBeLessThanOrEqual(ROWS_MAX - ROWS_MAX / 20 + 2);
    for (const key of ["client quiet", "network n0", "client new", "network n9"]) expect(kept).toContain(key);
    // Of the crowd, those with the most to say stay.
    expect(kept).toContain("client filled299");
    expect(kept).not.toContain("client filled300");
  });

  it("among networks within their share, clients of whom nothing is known go before those of whom something is", async () => {
    await object().record([report()]);
    await fill(ROWS_MAX - 2, `'n' || (n / 30), CASE WHEN n > 18000 THEN 5 ELSE 500 END, n`);
    await object().record([report({ client: "c9", network: "n1" })]);
    const kept = await keptKeys();
    expect(kept).toContain("client filled1");
    expect(kept).not.toContain("client filled18001");
  });

  it("holds a bounded number of rows in memory: those of a flood are written before they are due", async () => {
    const flood = Array.from({ length: 6_000 }, (_, i) => report({ client: `f${i}`, network: "n1", samples: [] }));
    await object().record([report({ client: "first" })]);
    await object().record(flood);
    const again = flood.map(({ client }) => report({ client, samples: [sample({ packetsSent: 2000 })] }));
    const before = await object().writes();
    await object().record(again);
    // Each was written when it was new, less than ten seconds ago. A thousand did not fit into memory.
    expect((await object().writes()).rows - before.rows).toBeGreaterThanOrEqual(1_000);
    // Evidence fades in the seconds that this may take.
    expect(estimate((await object().lookUp({ client: "f0", network: "n1" })).client)?.quic?.packets).toBeCloseTo(
      2000,
      -1,
    );
  });
});

describe("what is forgotten", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
  const names = async () => (await rows()).map((row) => row["key"]);
  const packets = (state: unknown) => estimate(state)?.quic?.packets ?? 0;

  it.each([
    ["a client", { client: "c1" }, ["client", "offers"], ["client c10", "network n1", "network n10"]],
    ["a network", { network: "n1" }, ["network"], ["client c1", "client c10", "network n10"]],
  ] as const)("%s, and nobody else, in memory and on disk", async (_name, what, gone, kept) => {
    await object().record([
      report({ answers: [{ atMs: Date.now(), offerUntilMs: Date.now() + 5000 }] }),
      report({ client: "c10", network: "n10" }),
    ]);
    const before = await lookUp();
    expect(await object().forget(what)).toBe(true);
    const expected = Object.fromEntries(Object.entries(before).filter(([name]) => !gone.some((one) => one === name)));
    expect(await lookUp()).toEqual(expected);
    expect(await names()).toEqual(kept);
    await evictDurableObject(object());
    expect(await lookUp()).toEqual(expected);
    expect(await object().forget(what)).toBe(false);
  });

  it("on disk, of which nothing is in memory", async () => {
    await object().record([report()]);
    await evictDurableObject(object());
    expect(await object().forget({ client: "c1" })).toBe(true);
    expect(await names()).toEqual(["network n1"]);
  });

  it("while it waits in memory to be written", async () => {
    await object().record([report()]);
    await object().record([report({ samples: [sample({ packetsSent: 2000 })] })]);
    expect(await object().forget({ client: "c1" })).toBe(true);
    await runDurableObjectAlarm(object());
    expect(await names()).toEqual(["network n1"]);
    expect(await lookUp()).not.toHaveProperty("client");
  });

  it("nothing: it is told, and no schema is left behind", async () => {
    expect(await object().forget({ client: "c1" })).toBe(false);
    expect(await object().forget({ network: "n1" })).toBe(false);
    expect(await tables()).toEqual([]);
  });

  it("does not come back with what was on its way, of the client", async () => {
    await object().record([report()]);
    const forgottenAtMs = Date.now();
    await object().forget({ client: "c1" });
    for (const afterMs of [0, 1, 9_999, 49_999]) {
      later(afterMs);
      const late = sample({ connectionId: "b", atMs: forgottenAtMs });
      const answers = [{ atMs: forgottenAtMs - 1, offerUntilMs: forgottenAtMs + 90_000 }];
      await object().record([report({ samples: [late, sample({ atMs: forgottenAtMs - 5_000 })], answers })]);
      expect(await lookUp(), `${afterMs} ms later`).not.toHaveProperty("client");
    }
    await runDurableObjectAlarm(object());
    expect(await names()).toEqual(["network n1"]);
  });

  it("but begins again with what came after, and with that alone", async () => {
    await object().record([report()]);
    const forgottenAtMs = Date.now();
    await object().forget({ client: "c1" });
    later(1);
    const answers = [
      { atMs: forgottenAtMs, offerUntilMs: forgottenAtMs + 90_000 },
      { atMs: Date.now(), offerUntilMs: Date.now() + 5_000 },
    ];
    const samples = [
      sample({ connectionId: "b", atMs: forgottenAtMs, packetsSent: 500, rttMs: 5 }),
      sample({ connectionId: "c", packetsSent: 200, packetsLost: 0, rttMs: 30 }),
    ];
    await object().record([report({ samples, answers })]);
    const { client, offers } = await lookUp();
    expect(packets(client)).toBeCloseTo(200, 0);
    expect(estimate(client)?.quic).toMatchObject({ minRttMs: 30, lossRatio: 0 });
    expect(offers).toMatchObject({ untilMs: Date.now() + 5_000 });
    expect(await names()).toEqual(["client c1", "network n1"]);
  });

  it("a network does not come back with what was on its way, and its clients keep it", async () => {
    await object().record([report()]);
    const forgottenAtMs = Date.now();
    await object().forget({ network: "n1" });
    later(1);
    await object().record([report({ client: "c2", samples: [sample({ atMs: forgottenAtMs })] })]);
    expect(await lookUp()).not.toHaveProperty("network");
    expect(packets((await object().lookUp({ client: "c2", network: "n1" })).client)).toBeCloseTo(1000, 0);
    const samples = [
      sample({ connectionId: "b", atMs: forgottenAtMs, packetsSent: 20, packetsLost: 0 }),
      sample({ connectionId: "c", packetsSent: 15, packetsLost: 0 }),
    ];
    await object().record([report({ client: "c3", samples })]);
    expect(packets((await lookUp()).network)).toBeCloseTo(SHARE_PACKETS - 20, 0);
    expect(packets((await object().lookUp({ client: "c3", network: "n1" })).client)).toBeCloseTo(35, 0);
  });

  it("what was forgotten is remembered as forgotten for a minute, and for each by itself", async () => {
    await object().record([report(), report({ client: "c2" })]);
    const atMs = Date.now();
    await object().forget({ client: "c1" });
    later(30_000);
    await object().forget({ client: "c2" });
    later(29_999);
    await object().forget({ client: "nobody" });
    await object().record([
      report({ samples: [sample({ atMs })] }),
      report({ client: "c2", samples: [sample({ atMs })] }),
    ]);
    expect(await names()).toEqual(["network n1"]);
    // From then on nothing old can arrive any more, and the store drops its note that it has forgotten the client.
    later(1);
    await object().forget({ client: "nobody" });
    await object().record([
      report({ samples: [sample({ atMs })] }),
      report({ client: "c2", samples: [sample({ atMs })] }),
    ]);
    expect(await names()).toEqual(["client c1", "network n1"]);
  });

  it("a connection that is still open does not bring back what was forgotten", async () => {
    const nowMs = Date.now();
    await object().record([report({ samples: [sample({ atMs: nowMs - 5000, packetsSent: 10_000, closing: false })] })]);
    expect(await object().forget({ client: "c1" })).toBe(true);
    await object().record([
      report({ samples: [sample({ atMs: Date.now() + 1, packetsSent: 10_010, closing: false })] }),
    ]);
    // The ten packets since then, and none of the ten thousand before.
    expect(estimate((await lookUp()).client)?.quic?.packets).toBeCloseTo(10, 5);
  });
});
