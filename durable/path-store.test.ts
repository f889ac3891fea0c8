import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { seenAt } from "../policy-api/decision/connections.ts";
import { COUNTED_PAGES_MAX } from "../policy-api/visitors/counted-pages.ts";
import type { ClientState, Remembered } from "../policy-api/decision/history.ts";
import { type AltSvcAnswer, NO_OFFER } from "../policy-api/decision/offers.ts";
import { offersHeld } from "../policy-api/decision/testing.ts";
import { outcomeOf, type PageNews } from "../policy-api/visitors/page-outcome.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import { askedPage, pageDecision, pageNews, pageReport } from "../policy-api/visitors/testing-pages.ts";
import { ASIDE_MS, RETENTION_MS, ROWS_MAX, SPAN_MS } from "./path-rows.ts";
import type { ClientKeys, ClientReport } from "./client-report.ts";
import type { PathStore } from "./path-store.ts";
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
const lookUp = async (over: Partial<ClientKeys> = {}): Promise<Remembered> => object().lookUp({ ...keys, ...over });
/** How many packets of a client count. */
const packets = (client: ClientState | undefined): number =>
  (client?.connections ?? []).reduce((sum, one) => sum + seenAt(one, Date.now()).packets, 0);
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

  it("turns samples into what is known of the client, and of nobody else", async () => {
    const only = sample();
    await object().record([report({ samples: [only] })]);
    const reply = await lookUp();
    expect(reply.client?.connections).toEqual([
      {
        id: "a",
        transport: "quic",
        atMs: only.atMs,
        packetsSent: 1000,
        packetsLost: 20,
        bytesSent: 0,
        busyMs: 0,
        rttMs: 20,
        closed: true,
      },
    ]);
    expect(await lookUp({ client: "c2" })).toEqual({});
    expect((await rows()).map((row) => row["key"])).toEqual(["client c1"]);
  });

  it("news that comes twice, or late, changes nothing", async () => {
    const older = sample({ atMs: Date.now() - 5_000, packetsSent: 500, packetsLost: 10 });
    const newer = sample();
    await object().record([report({ samples: [newer] })]);
    const before = await lookUp();
    for (const samples of [[newer], [older], [newer, older]]) await object().record([report({ samples })]);
    expect(await lookUp()).toEqual(before);
  });

  it("news may come in any order", async () => {
    const nowMs = Date.now();
    const news = [
      sample({ atMs: nowMs - 9_000, packetsSent: 500, packetsLost: 10, closing: false }),
      sample({ atMs: nowMs - 5_000, connectionId: "b", transport: "tcp", packetsLost: 0, rttMs: 30 }),
      sample({ atMs: nowMs }),
    ];
    for (const one of news) await object().record([report({ samples: [one] })]);
    for (const one of news.toReversed())
      await object().record([report({ client: "c2", network: "n2", samples: [one] })]);
    await object().record([report({ client: "c3", network: "n3", samples: news.toReversed() })]);
    const inTime = await lookUp();
    expect(packets(inTime.client)).toBe(2000);
    for (const [client, network] of [
      ["c2", "n2"],
      ["c3", "n3"],
    ] as const) {
      const other = await lookUp({ client, network });
      expect(other.client?.connections).toEqual(inTime.client?.connections);
    }
  });

  it("keeps what a client may hold of our offers", async () => {
    const nowMs = Date.now();
    await object().record([
      report({ samples: [], answers: [{ origin: "o", atMs: nowMs, offerUntilMs: nowMs + 5000 }] }),
    ]);
    expect((await lookUp()).offers).toEqual(
      offersHeld({ origin: "o", untilMs: nowMs + 5000, answeredAtMs: nowMs, offering: true }),
    );
    expect((await rows()).map((row) => row["key"])).toEqual(["client c1"]);
  });

  it("keeps over an eviction what a client did with them", async () => {
    const nowMs = Date.now();
    const answer = (secondsAgo: number, earlierOffer: AltSvcAnswer["earlierOffer"]): AltSvcAnswer => {
      const atMs = nowMs - secondsAgo * 1000;
      return { origin: "o", atMs, offerUntilMs: atMs + 60_000, earlierOffer };
    };
    const answers = [answer(90, "ignored"), answer(90_000, "taken"), answer(30, "ignored"), answer(10, "ignored")];
    await object().record([report({ samples: [], answers })]);
    const held = (await lookUp()).offers;
    expect(held).toMatchObject({
      takenAtMs: nowMs - 90_000_000,
      origins: [{ answeredAtMs: nowMs - 10_000, offering: true }],
    });
    expect(held?.ignoredAtMs).toHaveLength(3);
    await evictDurableObject(object());
    expect((await lookUp()).offers).toEqual(held);
  });

  it("keeps offers of each origin apart, over an eviction", async () => {
    const atMs = Date.now();
    const answers = ["a", "b"].map((origin, i) => ({ origin, atMs: atMs + i, offerUntilMs: i * (atMs + 5_000) }));
    await object().record([report({ samples: [], answers })]);
    await evictDurableObject(object());
    expect((await lookUp()).offers?.origins).toEqual([
      { origin: "b", untilMs: atMs + 5_000, answeredAtMs: atMs + 1, offering: true },
      { origin: "a", untilMs: 0, answeredAtMs: atMs, offering: false },
    ]);
  });

  it("what can change no answer is remembered, and not written", async () => {
    const uncounted = (connectionId: string) =>
      sample({ connectionId, packetsSent: undefined, packetsLost: undefined });
    const offer = { origin: "o", atMs: Date.now(), offerUntilMs: Date.now() + 60_000 };
    await object().record([report({ samples: [uncounted("a")], answers: [offer] })]);
    const before = await object().writes();
    const longer = {
      origin: "o",
      atMs: Date.now() + 20_000,
      offerUntilMs: Date.now() + 80_000,
      earlierOffer: "taken" as const,
    };
    await object().record([report({ samples: [uncounted("b")], answers: [longer] })]);
    expect((await lookUp()).offers).toMatchObject({
      origins: [{ untilMs: longer.offerUntilMs }],
      takenAtMs: longer.atMs,
    });
    await runDurableObjectAlarm(object());
    expect((await object().writes()).rows).toBe(before.rows);
    // It goes into the row with the next news that can.
    const clear = { origin: "o", atMs: Date.now() + 30_000, offerUntilMs: 0 };
    await object().record([report({ samples: [], answers: [clear] })]);
    await runDurableObjectAlarm(object());
    await evictDurableObject(object());
    expect((await lookUp()).offers).toMatchObject({
      origins: [{ offering: false, untilMs: longer.offerUntilMs }],
      takenAtMs: longer.atMs,
    });
  });

  it("a connection whose packets nobody counts is known by its RTT", async () => {
    const uncounted = sample({ packetsSent: undefined, packetsLost: undefined });
    await object().record([report({ samples: [uncounted] })]);
    expect((await lookUp()).client?.connections).toMatchObject([{ packetsSent: 0, rttMs: 20 }]);
  });

  it("a client's connections are kept apart, the newest first", async () => {
    const nowMs = Date.now();
    const clean = sample({ atMs: nowMs - 60_000, packetsLost: 0 });
    const lossy = sample({ connectionId: "b", atMs: nowMs, packetsLost: 50 });
    await object().record([report({ samples: [lossy, clean] })]);
    await runDurableObjectAlarm(object());
    await evictDurableObject(object());
    expect((await lookUp()).client?.connections).toMatchObject([
      { id: "b", packetsSent: 1000, packetsLost: 50 },
      { id: "a", packetsSent: 1000, packetsLost: 0 },
    ]);
  });

  it("writes a client's row at once", async () => {
    await object().record([report()]);
    expect(await object().writes()).toEqual({ rows: 1, alarms: 1 });
    await object().record([report({ samples: [sample({ atMs: Date.now() + 1, packetsSent: 1001 })] })]);
    expect(await object().writes()).toEqual({ rows: 2, alarms: 1 });
    await object().record([report({ client: "c2" })]);
    expect(await object().writes()).toEqual({ rows: 3, alarms: 1 });
    expect(await runDurableObjectAlarm(object())).toBe(true);
    expect((await object().writes()).rows).toBe(3);
  });

  it("reads rows of the first release, without those of networks and without what clients gave to them", async () => {
    await object().record([report({ answers: [{ origin: "o", atMs: 1, offerUntilMs: 2 }] })]);
    const known = await lookUp();
    await runInDurableObject(object(), (_, { storage: { sql } }) => {
      sql.exec("CREATE TABLE paths_7 AS SELECT * FROM paths");
      for (const name of ["paths", "paths_7"]) {
        sql.exec(`UPDATE ${name} SET state = json_set(state, '$.client.given', json('{"clients":[1],"asOfMs":0}'))`);
        for (const key of ["network n1", "asn 64500", "site"])
          sql.exec(`INSERT INTO ${name} VALUES (?, ?, '', 0, '{}')`, key, Date.now());
      }
      sql.exec("DELETE FROM paths WHERE key = 'client c1'");
      sql.exec("UPDATE schema_version SET version = 1");
    });
    await evictDurableObject(object());
    expect(await lookUp()).toEqual(known);
    expect(await object().extent()).toMatchObject({ rows: 1 });
  });

  it("what waits is written ten seconds after the last write, not after the last report", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const beganMs = Date.now();
      const drawn = (nonce: string) =>
        report({ samples: [], decided: [askedPage(nonce, { arm: "offer", atMs: Date.now() })] });
      await object().record([drawn("a")]);
      vi.setSystemTime(beganMs + 9_998);
      await object().record([drawn("b")]);
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

  const whole = (over: object): string =>
    JSON.stringify({ client: { connections: [] }, offers: NO_OFFER, countedPages: [], ...over });
  it("takes a corrupt row for one that is not there, and mends it", async () => {
    await object().record([report()]);
    for (const value of [
      "{",
      "null",
      whole({ client: { connections: [{ id: 1 }] } }),
      whole({ offers: { ...NO_OFFER, origins: [{}] } }),
      whole({ offers: { ...NO_OFFER, ignoredAtMs: [-1] } }),
      whole({ countedPages: [{ nonce: 7 }] }),
      whole({ assigned: { period: 1 } }),
    ]) {
      await setStates(value);
      expect(await lookUp(), value).toEqual({});
    }
    await setStates(whole({}));
    expect(await lookUp()).toMatchObject({ client: { connections: [] } });
    await setStates("{");
    await object().record([report()]);
    expect(packets((await lookUp()).client)).toBe(1000);
  });

  async function setStates(text: string): Promise<void> {
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec("UPDATE paths SET state = ?", text);
    });
    await evictDurableObject(object());
  }

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
    expect(await rows()).toHaveLength(1);
  });

  it("a client is known for three days after it was last heard of, and then nothing is left", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const beganMs = Date.now();
      const threeDaysMs = 72 * 3_600_000;
      await object().record([report()]);
      for (const [afterMs, isKnown] of [
        [threeDaysMs - 1, true],
        [threeDaysMs, false],
      ] as const) {
        vi.setSystemTime(beganMs + afterMs);
        await evictDurableObject(object());
        await runDurableObjectAlarm(object());
        expect(packets((await lookUp()).client)).toBe(isKnown ? 1000 : 0);
      }
      expect(await lookUp()).toEqual({});
      expect(await tables()).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("wakes when its table is to be set aside, and seldomer than once in an hour", async () => {
    await object().record([report()]);
    await runDurableObjectAlarm(object());
    const alarm = await runInDurableObject(object(), (_, state) => state.storage.getAlarm());
    expect(alarm).toBeGreaterThan(Date.now() + SPAN_MS - 60_000);
    expect(alarm).toBeLessThanOrEqual(Date.now() + SPAN_MS);
    // It reads whole tables, even if many rows expire one after another.
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec("UPDATE paths SET last_at_ms = ? WHERE key = 'client c1'", Date.now() - SPAN_MS + 1000);
    });
    await evictDurableObject(object());
    await runDurableObjectAlarm(object());
    const next = await runInDurableObject(object(), (_, state) => state.storage.getAlarm());
    expect(next).toBeGreaterThan(Date.now() + 3_500_000);
    expect(next).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(await rows()).toHaveLength(1);
  });

  /** Puts rows of clients into the table: `columns` gives a row's network, packets and age of its last news, of `n`. */
  async function fill(count: number, columns: string): Promise<void> {
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec(
        `INSERT INTO paths (key, state, network, packets, last_at_ms)
         WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
         SELECT 'client filled' || n, '{}', ${columns} FROM i`,
        count,
      );
    });
    await evictDurableObject(object());
  }
  const keptKeys = async () => new Set((await rows()).map((row) => row["key"]));

  it("is bounded in rows: a full table gives up the longest unseen", async () => {
    await object().record([report()]);
    await fill(ROWS_MAX - 1, "'n' || n, 500, n");
    await object().record([report({ client: "c9", network: "n1" })]);
    const kept = await keptKeys();
    expect(kept.size).toBeLessThanOrEqual(ROWS_MAX - ROWS_MAX / 20 + 1);
    for (const key of ["client c1", "client c9"]) expect(kept).toContain(key);
    expect(kept).not.toContain("client filled1");
  });

  it("a network that shows new clients without end pushes out its own, and nobody else's", async () => {
    await object().record([report({ client: "quiet", network: "n0" })]);
    await fill(ROWS_MAX - 1, `'crowd', n % 300, ${Date.now()} + n`);
    await object().record([report({ client: "new", network: "n9" })]);
    const kept = await keptKeys();
    expect(kept.size).toBeLessThanOrEqual(ROWS_MAX - ROWS_MAX / 20 + 2);
    for (const key of ["client quiet", "client new"]) expect(kept).toContain(key);
    // Of the crowd, those with the most to say stay.
    expect(kept).toContain("client filled299");
    expect(kept).not.toContain("client filled300");
  });

  it("among networks within their share, clients of whom nothing is known go before those of whom something is", async () => {
    await object().record([report()]);
    await fill(ROWS_MAX - 1, `'n' || (n / 30), CASE WHEN n > 18000 THEN 5 ELSE 500 END, n`);
    await object().record([report({ client: "c9", network: "n1" })]);
    const kept = await keptKeys();
    expect(kept).toContain("client filled1");
    expect(kept).not.toContain("client filled18001");
  });

  it("holds a bounded number of rows in memory: those of a flood are written before they are due", async () => {
    const flood = Array.from({ length: 6_000 }, (_, i) =>
      report({ client: `f${i}`, samples: [], decided: [askedPage(`n${i}`, { arm: "offer", atMs: Date.now() })] }),
    );
    const decided = [askedPage("first", { arm: "offer", atMs: Date.now() })];
    await object().record([report({ client: "first", samples: [], decided })]);
    const before = await object().writes();
    await object().record(flood);
    // Clients of a drawn arm wait for ten seconds. A thousand did not fit into memory.
    const after = await object().writes();
    expect(after.rows - before.rows).toBeGreaterThanOrEqual(1_000);
    expect(after.rows - before.rows).toBeLessThan(6_000);
    expect((await lookUp({ client: "f0" })).decided).toBeDefined();
    // A look-up makes no room by writing what waits.
    expect(await object().writes()).toEqual(after);
  });
});

describe("tables that were set aside", () => {
  const beganMs = Date.now();
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(beganMs);
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const HOUR_MS = 3_600_000;
  /** In an instance that has just begun, as after a day without visitors. */
  const ring = async (afterMs: number): Promise<void> => {
    vi.setSystemTime(beganMs + afterMs);
    await evictDurableObject(object());
    await runDurableObjectAlarm(object());
  };
  const packetsOf = async (client: string): Promise<number> => packets((await lookUp({ client })).client);
  const setAside = async (): Promise<string[]> => (await tables()).filter((name) => /^paths_\d+$/.test(name));

  it("their rows are still known, and go with their table, which costs no row", async () => {
    await object().record([report()]);
    await ring(SPAN_MS);
    expect(await rows()).toEqual([]);
    expect(await setAside()).toHaveLength(1);
    expect(await packetsOf("c1")).toBe(1000);

    vi.setSystemTime(beganMs + SPAN_MS + HOUR_MS);
    await object().record([report({ client: "c2", network: "n2" })]);
    await ring(SPAN_MS + ASIDE_MS - 1);
    expect(await packetsOf("c1")).toBe(1000);
    await ring(SPAN_MS + ASIDE_MS);
    expect(await packetsOf("c1")).toBe(0);
    expect(await packetsOf("c2")).toBe(1000);
    // By this instance, which dropped the table.
    expect((await object().writes()).rows).toBe(0);
  });

  it("no row is there for longer than its retention, however late the alarm rings", async () => {
    await object().record([report()]);
    await ring(SPAN_MS + 5 * HOUR_MS);
    expect(await packetsOf("c1")).toBe(1000);
    await ring(RETENTION_MS);
    expect(await lookUp()).toEqual({});
    expect(await tables()).toEqual([]);
  });

  it("a row that is written again counts, and not the one that was set aside", async () => {
    await object().record([report()]);
    await ring(SPAN_MS);
    await object().record([report({ samples: [sample({ connectionId: "b", packetsSent: 500 })] })]);
    await ring(SPAN_MS + HOUR_MS);
    expect(await packetsOf("c1")).toBe(1500);
    // Twice: the table with the newer row is set aside, too.
    await ring(2 * SPAN_MS);
    expect(await setAside()).toHaveLength(2);
    expect(await packetsOf("c1")).toBe(1500);
  });

  it("who is forgotten is in none of them", async () => {
    await object().record([report()]);
    await ring(SPAN_MS);
    await object().record([report({ samples: [sample({ connectionId: "b" })] })]);
    expect(await object().forget("c1")).toBe(true);
    await evictDurableObject(object());
    expect((await lookUp()).client).toBeUndefined();
    expect(await object().forget("c1")).toBe(false);
  });

  it("all of them together are bounded in rows", async () => {
    const fill = (from: number): Promise<void> =>
      runInDurableObject(object(), (_, { storage }) => {
        storage.sql.exec(
          `INSERT INTO paths (key, state, network, packets, last_at_ms)
           WITH RECURSIVE i(n) AS (SELECT ? UNION ALL SELECT n + 1 FROM i WHERE n < ? + ?)
           SELECT 'client filled' || n, '{}', 'n' || n, 500, ? + n FROM i`,
          from,
          from,
          ROWS_MAX / 2 - 1,
          Date.now(),
        );
      });
    await object().record([report()]);
    await fill(0);
    await ring(SPAN_MS);
    await fill(ROWS_MAX / 2);
    await evictDurableObject(object());
    await object().record([report({ client: "c9", network: "n1" })]);
    const { rows: kept } = await object().extent();
    expect(kept).toBeLessThanOrEqual(ROWS_MAX);
    expect(kept).toBeGreaterThan(ROWS_MAX * 0.9);
    expect(await packetsOf("c9")).toBe(1000);
  });
});

describe("what pages report", () => {
  const countersOf = (packetsSent: number) => [sample({ connectionId: "page:ab", packetsSent, packetsLost: 0 })];
  const page = (nonce: string, packetsSent = 300, atMs = Date.now()) =>
    pageNews(nonce, {
      outcome: outcomeOf(pageDecision({ atMs }), pageReport(), { transport: "tcp" }),
      samples: countersOf(packetsSent),
    });
  const pagesOf = (...pages: PageNews[]) => object().record([report({ samples: [], pages })]);

  it("counts once, with what its connections showed", async () => {
    expect(await pagesOf(page("a"))).toEqual({ replayed: 0, crowded: 0 });
    expect(packets((await lookUp()).client)).toBe(300);
    // The same page with other figures, later.
    expect(await pagesOf(page("a", 900), page("a", 800))).toEqual({ replayed: 2, crowded: 0 });
    expect(packets((await lookUp()).client)).toBe(300);
    expect(await pagesOf(page("b", 400, Date.now() + 1))).toEqual({ replayed: 0, crowded: 0 });
  });

  it("counts once over an eviction too", async () => {
    await pagesOf(page("a"));
    await evictDurableObject(object());
    expect(await pagesOf(page("a", 900))).toEqual({ replayed: 1, crowded: 0 });
    expect(packets((await lookUp()).client)).toBe(300);
  });

  it("counts so often for a client, and its neighbours' count beside it", async () => {
    const many = Array.from({ length: COUNTED_PAGES_MAX + 2 }, (_, i) => page(`n${i}`));
    expect(await pagesOf(...many)).toEqual({ replayed: 0, crowded: 2 });
    const neighbour = report({ client: "c2", samples: [], pages: [page("n0")] });
    expect(await object().record([neighbour])).toEqual({ replayed: 0, crowded: 0 });
    await runDurableObjectAlarm(object());
    await evictDurableObject(object());
    expect(await pagesOf(page("another"))).toEqual({ replayed: 0, crowded: 1 });
  });

  it("does not bring back a client that was forgotten after the page was decided", async () => {
    const before = page("a", 300, Date.now() - 1);
    await object().record([report()]);
    await object().forget("c1");
    await pagesOf(before);
    expect(await lookUp()).not.toHaveProperty("client");
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

  it("a client, and nobody else, in memory and on disk", async () => {
    await object().record([
      report({ answers: [{ origin: "o", atMs: Date.now(), offerUntilMs: Date.now() + 5000 }] }),
      report({ client: "c10", network: "n10" }),
    ]);
    expect(await object().forget("c1")).toBe(true);
    expect(await lookUp()).toEqual({});
    expect(await names()).toEqual(["client c10"]);
    await evictDurableObject(object());
    expect(await lookUp()).toEqual({});
    expect(await object().forget("c1")).toBe(false);
  });

  it("on disk, of which nothing is in memory", async () => {
    await object().record([report()]);
    await evictDurableObject(object());
    expect(await object().forget("c1")).toBe(true);
    expect(await names()).toEqual([]);
  });

  it("on disk, where it cannot be read", async () => {
    await object().record([report()]);
    await runInDurableObject(object(), (_, state) => {
      state.storage.sql.exec("UPDATE paths SET state = '{'");
    });
    await evictDurableObject(object());
    await object().forget("c1");
    expect(await names()).toEqual([]);
  });

  it("while it waits in memory to be written", async () => {
    await object().record([report()]);
    await object().record([report({ samples: [sample({ packetsSent: 2000 })] })]);
    expect(await object().forget("c1")).toBe(true);
    await runDurableObjectAlarm(object());
    expect(await names()).toEqual([]);
    expect(await lookUp()).not.toHaveProperty("client");
  });

  it("nothing: it is told, and no schema is left behind", async () => {
    expect(await object().forget("c1")).toBe(false);
    expect(await tables()).toEqual([]);
  });

  it("does not come back with what was on its way, of the client", async () => {
    await object().record([report()]);
    const forgottenAtMs = Date.now();
    await object().forget("c1");
    for (const afterMs of [0, 1, 9_999, 49_999]) {
      later(afterMs);
      const late = sample({ connectionId: "b", atMs: forgottenAtMs });
      const answers = [{ origin: "o", atMs: forgottenAtMs - 1, offerUntilMs: forgottenAtMs + 90_000 }];
      await object().record([report({ samples: [late, sample({ atMs: forgottenAtMs - 5_000 })], answers })]);
      expect(await lookUp(), `${afterMs} ms later`).not.toHaveProperty("client");
    }
    await runDurableObjectAlarm(object());
    expect(await names()).toEqual([]);
  });

  it("but begins again with what came after, and with that alone", async () => {
    await object().record([report()]);
    const forgottenAtMs = Date.now();
    await object().forget("c1");
    later(1);
    const answers = [
      { origin: "o", atMs: forgottenAtMs, offerUntilMs: forgottenAtMs + 90_000 },
      { origin: "o", atMs: Date.now(), offerUntilMs: Date.now() + 5_000 },
    ];
    const samples = [
      sample({ connectionId: "b", atMs: forgottenAtMs, packetsSent: 500, rttMs: 5 }),
      sample({ connectionId: "c", packetsSent: 200, packetsLost: 0, rttMs: 30 }),
    ];
    await object().record([report({ samples, answers })]);
    const { client, offers } = await lookUp();
    expect(client?.connections).toMatchObject([{ id: "c", packetsSent: 200, packetsLost: 0, rttMs: 30 }]);
    expect(offers).toMatchObject({ origins: [{ untilMs: Date.now() + 5_000 }] });
    expect(await names()).toEqual(["client c1"]);
  });

  it("what was forgotten is remembered as forgotten for a minute, and for each by itself", async () => {
    await object().record([report(), report({ client: "c2" })]);
    const atMs = Date.now();
    await object().forget("c1");
    later(30_000);
    await object().forget("c2");
    later(29_999);
    await object().forget("nobody");
    await object().record([
      report({ samples: [sample({ atMs })] }),
      report({ client: "c2", samples: [sample({ atMs })] }),
    ]);
    expect(await names()).toEqual([]);
    // From then on nothing old can arrive any more, and the store drops its note that it has forgotten the client.
    later(1);
    await object().forget("nobody");
    await object().record([
      report({ samples: [sample({ atMs })] }),
      report({ client: "c2", samples: [sample({ atMs })] }),
    ]);
    expect(await names()).toEqual(["client c1"]);
  });

  /** The client's one connection, open, with so many packets by now. */
  const openWith = (packetsSent: number, packetsLost: number) =>
    object().record([report({ samples: [sample({ packetsSent, packetsLost, closing: false })] })]);

  it("a connection that is still open does not bring back what was forgotten", async () => {
    await openWith(10_000, 500);
    expect(await object().forget("c1")).toBe(true);
    later(1);
    await openWith(10_010, 501);
    // The ten packets since then, and none of the ten thousand before: also on disk, and for a full table's choice.
    const seen = async () => (await lookUp()).client?.connections.map((one) => seenAt(one, Date.now()));
    expect(await seen()).toMatchObject([{ packets: 10, lost: 1 }]);
    expect((await rows())[0]).toMatchObject({ key: "client c1", packets: 10 });
    await evictDurableObject(object());
    later(1);
    await openWith(10_030, 501);
    expect(await seen()).toMatchObject([{ packets: 30, lost: 1 }]);
  });

  const marks = async (): Promise<unknown[]> =>
    runInDurableObject(object(), (_, state) => state.storage.sql.exec("SELECT key, at_ms FROM forgotten").toArray());

  it("nor after the object left memory: the open connection, and news that waited elsewhere", async () => {
    await openWith(10_000, 500);
    const atMs = Date.now();
    await object().forget("c1");
    await evictDurableObject(object());
    later(14_000);
    await object().record([report({ samples: [sample({ connectionId: "b", atMs, packetsSent: 700 })] })]);
    expect(await lookUp()).not.toHaveProperty("client");
    await evictDurableObject(object());
    await openWith(10_010, 501);
    expect(packets((await lookUp()).client)).toBe(10);
    // Also if its row is lost meanwhile, and hours later.
    await runInDurableObject(object(), (_, state) => void state.storage.sql.exec("DELETE FROM paths"));
    await evictDurableObject(object());
    later(RETENTION_MS - 20_000);
    await openWith(10_030, 501);
    expect(packets((await lookUp()).client)).toBe(30);
  });

  it("until its connections are over, and no longer: the note goes, and the schema with it", async () => {
    await openWith(10_000, 500);
    const atMs = Date.now();
    await object().forget("c1");
    expect(await marks()).toEqual([{ key: "client c1", at_ms: atMs }]);
    later(60_000);
    await object().record([report({ samples: [sample({ packetsSent: 10_010, packetsLost: 501 })] })]);
    expect(packets((await lookUp()).client)).toBe(10);
    await evictDurableObject(object());
    await runDurableObjectAlarm(object());
    expect(await marks()).toEqual([]);
    // Of connections that never say that they are over: as long as any row.
    later(RETENTION_MS);
    await openWith(20_000, 500);
    await object().forget("c1");
    for (const hours of [71, 1]) {
      later(hours * 3_600_000);
      await evictDurableObject(object());
      await runDurableObjectAlarm(object());
      expect((await tables()).includes("forgotten")).toBe(hours === 71);
    }
  });

  it("at most a thousand of them are kept", async () => {
    await object().record([report()]);
    await runInDurableObject(object(), (store: PathStore) => {
      for (let i = 0; i < 1_100; i++) store.forget(`x${i}`);
    });
    expect(await marks()).toHaveLength(1_000);
  });

  it("nor if it is forgotten again: before there was news, or after it", async () => {
    await openWith(10_000, 500);
    for (const isKnown of [true, false]) {
      expect(await object().forget("c1")).toBe(isKnown);
      later(1);
    }
    await openWith(10_010, 501);
    expect(packets((await lookUp()).client)).toBe(10);
    expect(await object().forget("c1")).toBe(true);
    later(1);
    await openWith(10_015, 501);
    expect(packets((await lookUp()).client)).toBe(5);
  });
});
