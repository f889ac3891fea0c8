import { add } from "../policy-api/visitors/testing.ts";
import fc from "fast-check";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ASSIGNMENT_MS, periodAt } from "../policy-api/decision/assignment.ts";
import { type AssignedClient, readAssignedClient } from "../policy-api/visitors/assigned-client.ts";
import type { OutcomeRow } from "../policy-api/visitors/gathered.ts";
import { type AskedPage, outcomeOf, type PageNews } from "../policy-api/visitors/page-outcome.ts";
import { periodKey } from "../policy-api/visitors/row-keys.ts";
import { NO_SUMS, type Sums } from "../policy-api/visitors/sums.ts";
import { askedPage, pageNews, pageReport } from "../policy-api/visitors/testing-pages.ts";
import type { ClientReport } from "./client-report.ts";
import { PLACE_KEYS_MAX, KEYS_MAX, OUTCOMES_RETENTION_MS, VERSIONS_MAX } from "./outcome-rows.ts";
import { RETENTION_MS } from "./path-rows.ts";
import type { PathStore } from "./path-store.ts";
import { readStored } from "./database.ts";
import { bindings, freshStorage } from "./testing.ts";

freshStorage();
beforeEach(() => {
  // In the middle of a period: clients of the one before stay in its sums. In the future, so that no alarm rings by itself.
  vi.useFakeTimers({ toFake: ["Date"], now: (periodAt(Date.now()) + 1.5) * ASSIGNMENT_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

const object = () => bindings.PATHS.get(bindings.PATHS.idFromName("local:2"));
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
let pages = 0;
const decision = (over: Partial<AskedPage> = {}): AskedPage =>
  askedPage(`n${pages++}`, {
    arm: "offer",
    position: "next",
    place: { rtt: 3, size: 1 },
    atMs: Date.now(),
    period: periodAt(Date.now()),
    ...over,
  });
const page = ({ nonce, ...of }: AskedPage, loadMs: number | undefined = 700): PageNews =>
  pageNews(nonce, {
    outcome: outcomeOf(of, pageReport({ loadMs, lcpMs: 400 }), { transport: of.transport }),
  });
const report = (over: Partial<ClientReport> = {}): ClientReport => ({
  client: "c1",
  network: "n1",
  samples: [],
  answers: [],
  ...over,
});
/** A client that one page was decided for, and whose page reported. */
const visit = (client: string, of = decision(), asn?: number, country?: string): ClientReport =>
  report({ client, decided: [of], pages: [page(of)], asn, country });
const rowsOf = async (version = 3): Promise<OutcomeRow[]> =>
  (await object().outcomes(version)) as unknown as OutcomeRow[];
const versionsIn = ({ storage }: DurableObjectState): number[] =>
  storage.sql
    .exec<{ version: number }>("SELECT DISTINCT version FROM outcomes WHERE arm <> 'gone' ORDER BY version")
    .toArray()
    .map(({ version }) => version);
const versions = async (): Promise<number[]> => runInDurableObject(object(), (_, state) => versionsIn(state));
const rowAt = async (key: string, version = 3): Promise<OutcomeRow | undefined> =>
  (await rowsOf(version)).find((row) => row.key === key);
const clientsAt = async (key: string, version = 3): Promise<bigint | undefined> =>
  (await rowAt(key, version))?.sums.load.clients;
const sql = async (text: string, ...bound: SqlStorageValue[]): Promise<Record<string, SqlStorageValue>[]> =>
  runInDurableObject(object(), (_, state) => state.storage.sql.exec(text, ...bound).toArray());
function assignedIn({ storage }: DurableObjectState): Record<string, AssignedClient | undefined> {
  const { sql: db } = storage;
  if (db.exec("SELECT 1 FROM sqlite_master WHERE name = 'paths'").toArray().length === 0) return {};
  const rows = db
    .exec<{ key: string; assigned: string }>(
      "SELECT key, state -> '$.assigned' AS assigned FROM paths WHERE assigned IS NOT NULL ORDER BY key",
    )
    .toArray();
  return Object.fromEntries(rows.map((row) => [row.key, readStored(row.assigned, readAssignedClient)]));
}
const assigned = async (): Promise<Record<string, AssignedClient | undefined>> =>
  runInDurableObject(object(), (_, state) => assignedIn(state));
/** What clients' rows add up to under each version, arm and key. */
function sumsOf(clients: readonly AssignedClient[]): Record<string, unknown> {
  const sums: Record<string, Sums> = {};
  for (const { version, arm, rows } of clients)
    for (const [key, day] of Object.entries(rows)) {
      const id = `${version} ${arm} ${key}`;
      sums[id] = add(sums[id] ?? NO_SUMS, day);
    }
  return sums;
}
/** What the table has. */
function sumsIn(store: PathStore, state: DurableObjectState): Record<string, unknown> {
  const hasTable = state.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'outcomes'").toArray().length > 0;
  const rows = (hasTable ? versionsIn(state) : []).flatMap((version) => store.outcomes(version));
  return Object.fromEntries(rows.map(({ version, arm, key, sums }) => [`${version} ${arm} ${key}`, sums]));
}
const stored = async (): Promise<Record<string, unknown>> => runInDurableObject(object(), sumsIn);
/** Reads both at a time: no alarm can ring in between. */
const expectSumsOfRows = async (): Promise<void> => {
  const [found, clients] = await runInDurableObject(object(), (store, state) => [
    sumsIn(store, state),
    assignedIn(state),
  ]);
  expect(found).toEqual(sumsOf(Object.values(clients).filter((one) => one !== undefined)));
};

describe("outcomes", () => {
  it("are nothing where nothing was recorded, and asking leaves nothing behind", async () => {
    expect(await rowsOf()).toEqual([]);
    expect(await sql("SELECT name FROM sqlite_master WHERE name IN ('paths', 'outcomes')")).toEqual([]);
  });

  it("add up what clients of drawn arms did, under each key", async () => {
    const withheld = decision({ arm: "withhold" });
    await object().record([visit("c1", decision(), 64_500, "JP"), visit("c2"), visit("c3", withheld)]);
    const rows = await rowsOf();
    const during = periodKey(withheld.period, 2);
    expect(rows.map(({ arm, key, sums }) => [arm, key, sums.load.clients])).toEqual([
      ["offer", "all", 2n],
      ["offer", "asn/64500", 1n],
      ["offer", "country/JP", 1n],
      ["offer", during, 2n],
      ["offer", "next/3/1/-", 2n],
      ["offer", "rtt/2", 2n],
      ["withhold", "all", 1n],
      ["withhold", during, 1n],
      ["withhold", "next/3/1/-", 1n],
      ["withhold", "rtt/2", 1n],
    ]);
    // Sums alone show when an effect changes.
    expect(rows.find(({ key }) => key === during)).toMatchObject({ load: [], lcp: [] });
    expect(rows[0]).toMatchObject({ version: 3, load: [[expect.any(Number), 2]], lcp: [[expect.any(Number), 2]] });
    expect(await versions()).toEqual([3]);
    await expectSumsOfRows();
  });

  it("have nothing of clients that the policy decides for", async () => {
    await object().record([visit("c1", decision({ arm: "policy" }))]);
    expect(await stored()).toEqual({});
    expect(await assigned()).toEqual({});
    expect(await object().lookUp({ client: "c1" })).not.toHaveProperty("decided");
  });

  it("take a client's row out and put it back as it grows, also after a restart", async () => {
    await object().record([visit("c1")]);
    for (let i = 0; i < 3; i++) {
      later(10_000);
      await object().record([visit("c1")]);
      await expectSumsOfRows();
      await evictDurableObject(object());
    }
    expect((await rowAt("all"))?.sums.assigned.clients).toBe(1n);
    // A client counts for two pages in the sketches.
    expect((await rowAt("all"))?.load).toEqual([[expect.any(Number), 2]]);
  });

  it("count a page's report once", async () => {
    const of = decision();
    const once = page(of);
    await object().record([report({ decided: [of, decision()], pages: [once] })]);
    later(10_000);
    expect(await object().record([report({ pages: [once] })])).toEqual({ replayed: 1, crowded: 0 });
    expect((await assigned())["client c1"]?.rows["all"]).toMatchObject({ decided: 2, load: { pages: 1 } });
  });

  it("count a page once, whichever of its decision and its report comes first, and however often", async () => {
    const of = decision();
    const [asked, reported] = [{ decided: [of] }, { pages: [page(of)] }];
    const orders = [
      [{ ...asked, ...reported }],
      [asked, reported],
      [reported, asked],
      [reported],
      [{ ...asked, ...reported }, asked, reported],
    ];
    for (const [i, order] of orders.entries()) {
      for (const news of order) {
        await object().record([report({ client: `c${i}`, ...news })]);
        await evictDurableObject(object());
        later(10_000);
      }
    }
    await expectSumsOfRows();
    const found = Object.values(await assigned()).map((one) => one?.rows);
    expect(found[0]?.["all"]).toMatchObject({ decided: 1, load: { pages: 1 } });
    // What is expected of a page hangs on those before it.
    const counts = found.map((rows) =>
      Object.entries(rows ?? {}).map(([key, { decided: n, load }]) => [key, n, load.pages]),
    );
    expect(counts).toEqual(orders.map(() => counts[0]));
  });

  it("are not changed by a batch that comes again, as its answer was lost", async () => {
    const batch = [
      visit("c1"),
      report({ client: "c2", decided: [decision()] }),
      report({ client: "c3", pages: [page(decision())] }),
    ];
    await object().record(batch);
    const once = await stored();
    for (const isRestarted of [false, true]) {
      if (isRestarted) await evictDurableObject(object());
      later(10_000);
      await object().record(batch);
      await runDurableObjectAlarm(object());
      expect(await stored()).toEqual(once);
      await expectSumsOfRows();
    }
  });

  it("take no report of a period, version or arm that is over for its client", async () => {
    const of = decision({ atMs: Date.now() - 1_000 });
    await object().record([visit("c1", decision({ policyVersion: 4 }))]);
    const before = await stored();
    for (const over of [{ period: of.period - 1 }, { policyVersion: 3 }, { arm: "withhold" }] as const) {
      later(10_000);
      await object().record([report({ pages: [page(decision({ ...of, policyVersion: 4, ...over }))] })]);
    }
    await runDurableObjectAlarm(object());
    expect(await stored()).toEqual(before);
  });

  it("tell the look-up when the client was last decided about, before it is written too", async () => {
    const { period, atMs } = decision();
    await object().record([visit("c1")]);
    expect((await object().lookUp({ client: "c1" })).decided).toEqual({ period, atMs });
    later(5);
    await object().record([report({ decided: [decision({ position: "redrawn" })] })]);
    expect((await object().lookUp({ client: "c1" })).decided).toEqual({ period, atMs: atMs + 5 });
  });

  it("keep what a client was in an earlier period, as another client's", async () => {
    await object().record([visit("c1")]);
    // Not written yet when the next period begins.
    later(1);
    await object().record([visit("c1")]);
    const next = decision({ period: decision().period + 1, atMs: Date.now() + 1, position: "redrawn" });
    await object().record([report({ decided: [next, { ...next, nonce: "next", position: "next" }] })]);
    await runDurableObjectAlarm(object());
    const { sums } = (await rowAt("all")) ?? {};
    expect([sums?.assigned.clients, sums?.load.clients]).toEqual([2n, 1n]);
    // Three pages, in parts of 1/4096.
    expect(sums?.assigned.sums[0]).toBe(BigInt(3 * 4096));
  });

  it("stay when a client is forgotten, whose row goes", async () => {
    await object().record([visit("c1"), visit("c2")]);
    const before = await stored();
    expect(await object().forget("c1")).toBe(true);
    await runDurableObjectAlarm(object());
    expect(await stored()).toEqual(before);
    expect(Object.keys(await assigned())).toEqual(["client c2"]);
    // News of before does not bring it back. News of after begins another client.
    await object().record([report({ decided: [decision({ atMs: Date.now() - 1 })] })]);
    expect(Object.keys(await assigned())).toEqual(["client c2"]);
    later(10_000);
    await object().record([visit("c1")]);
    expect(await clientsAt("all")).toBe(3n);
  });

  it("expect of a page what pages of its RTT took before, in both arms", async () => {
    const visits = Array.from({ length: 20 }, (_, i) => {
      const of = decision({ arm: i % 2 === 0 ? "offer" : "withhold", policyVersion: 3 + (i % 3) });
      return report({ client: `c${i}`, decided: [of], pages: [page(of, 9_000)] });
    });
    await object().record(visits);
    await evictDurableObject(object());
    const of = decision();
    await object().record([report({ client: "slow", decided: [of], pages: [page(of, 9_000)] })]);
    const load = (await assigned())["client slow"]?.rows["all"]?.load;
    expect(load?.atBound).toBe(0);
    expect(Math.exp((load?.predicted ?? 0) / 4096)).toBeCloseTo(9, 0);
    // By the model, before anything was known, it was beyond reach.
    expect((await assigned())["client c0"]?.rows["all"]?.load.atBound).toBe(1);
  });
});

describe("writes of outcomes", () => {
  it("are one for each key in ten seconds, however many clients change it", async () => {
    await object().record([visit("c0")]);
    const before = (await object().writes()).rows;
    for (let i = 1; i <= 30; i++) {
      later(300);
      await object().record([visit(`c${i}`)]);
    }
    // Nothing was written for a while: so all of it waits.
    expect((await object().writes()).rows - before).toBe(0);
    expect(await clientsAt("all")).toBe(1n);
    // A client of no drawn arm waits for nobody.
    await object().record([
      report({ client: "plain", answers: [{ origin: "o", atMs: Date.now(), offerUntilMs: Date.now() + 60_000 }] }),
    ]);
    expect((await object().writes()).rows - before).toBe(1);
    later(1_000);
    await object().record([report({ client: "c31" })]);
    // Then the thirty, and four sums. Of the last one nothing is known.
    expect((await object().writes()).rows - before).toBe(1 + 30 + 4);
    expect(await clientsAt("all")).toBe(31n);
    await expectSumsOfRows();
  });

  it("come by alarm where nobody else reports", async () => {
    const beganMs = Date.now();
    await object().record([visit("c1")]);
    later(3_000);
    await object().record([visit("c2")]);
    expect(await runInDurableObject(object(), (_, state) => state.storage.getAlarm())).toBe(beganMs + 10_000);
    await runDurableObjectAlarm(object());
    expect(await clientsAt("all")).toBe(2n);
    await expectSumsOfRows();
  });

  it("are lost in a crash with what the clients' rows say of them, and nothing else is", async () => {
    await object().record([visit("c1")]);
    later(1_000);
    const of = decision();
    const lost = report({ client: "c2", decided: [of], pages: [page(of)] });
    await object().record([lost]);
    await evictDurableObject(object());
    await expectSumsOfRows();
    // So the page can still be counted, once.
    expect(await object().record([lost])).toEqual({ replayed: 0, crowded: 0 });
    expect(await clientsAt("all")).toBe(2n);
    await evictDurableObject(object());
    expect(await object().record([lost])).toEqual({ replayed: 1, crowded: 0 });
  });

  it("fail whole, and are made up for", async () => {
    await object().record([visit("c1")]);
    later(10_000);
    await sql(
      "CREATE TRIGGER full BEFORE UPDATE ON outcomes WHEN NEW.key = 'rtt/2' BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    const news = [visit("c1"), visit("c2")];
    await runInDurableObject(object(), async (store) => {
      await expect(store.record(news)).rejects.toThrow("full");
    });
    await expectSumsOfRows();
    expect(Object.keys(await assigned())).toEqual(["client c1"]);
    await sql("DROP TRIGGER full");
    later(10_000);
    await object().record([report({ client: "c3" })]);
    expect(await clientsAt("all")).toBe(2n);
    await expectSumsOfRows();
  });

  it("are those of all clients' rows, after any sequence of reports, writes and restarts", async () => {
    const anyStep = fc.oneof(
      fc.record({
        client: fc.constantFrom("c1", "c2", "c3"),
        over: fc.record({
          arm: fc.constantFrom("offer" as const, "withhold" as const),
          position: fc.constantFrom("redrawn" as const, "new" as const, "next" as const),
          rttMs: fc.constantFrom(5, 50),
        }),
        asn: fc.constantFrom(undefined, 1, 2),
        loadMs: fc.option(fc.integer({ min: 1, max: 9_000 }), { nil: undefined }),
        afterMs: fc.constantFrom(1, 4_000),
      }),
      fc.constantFrom("alarm" as const, "restart" as const, "wait" as const),
    );
    let version = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), async (steps) => {
        // A client's arm and period stay, so that the rows hold all that was added. Each run has its own clients and version.
        version++;
        await expectSumsOfRows();
        for (const step of steps) {
          if (step === "restart") await evictDurableObject(object());
          else if (step === "alarm") await runDurableObjectAlarm(object());
          else if (step === "wait") later(10_000);
          else {
            const { client, over, asn, loadMs, afterMs } = step;
            later(afterMs);
            const arm = client === "c1" ? "withhold" : "offer";
            const of = decision({ ...over, arm, policyVersion: version, period: 100 });
            const news = { client: `${client} ${version}`, decided: [of], pages: [page(of, loadMs)], asn };
            await object().record([report(news)]);
          }
          await expectSumsOfRows();
        }
      }),
      { numRuns: 12 },
    );
    expect(version).toBeGreaterThanOrEqual(12);
  });
});

describe("bounds of outcomes", () => {
  it("so many autonomous systems of a version and arm, those that came first", async () => {
    const visits = Array.from({ length: PLACE_KEYS_MAX + 3 }, (_, i) => visit(`c${i}`, decision(), i));
    await object().record(visits);
    const asns = async () => (await rowsOf()).filter(({ key }) => key.startsWith("asn/")).map(({ key }) => key);
    expect(await asns()).toHaveLength(PLACE_KEYS_MAX);
    expect(await clientsAt("all")).toBe(BigInt(PLACE_KEYS_MAX + 3));
    await expectSumsOfRows();
    later(10_000);
    await object().record([visit("c0", decision(), 0), visit("c66", decision(), 66), visit("new", decision(), 0)]);
    expect(await asns()).not.toContain("asn/66");
    expect(await clientsAt("asn/0")).toBe(2n);
    await expectSumsOfRows();
    // The other arm has its own.
    later(10_000);
    await object().record([visit("other", decision({ arm: "withhold" }), 66)]);
    expect(await asns()).toContain("asn/66");
  });

  it("so many countries, beside the autonomous systems", async () => {
    const letters = Array.from("ABCDEFGHIJ");
    const countries = letters.flatMap((one) => letters.map((other) => one + other)).slice(0, PLACE_KEYS_MAX + 3);
    await object().record(countries.map((country, i) => visit(`c${i}`, decision(), i, country)));
    for (const prefix of ["asn/", "country/"])
      expect((await rowsOf()).filter(({ key }) => key.startsWith(prefix))).toHaveLength(PLACE_KEYS_MAX);
    expect(await clientsAt("all")).toBe(BigInt(countries.length));
    await expectSumsOfRows();
  });

  it("so many keys of a version and arm", async () => {
    await object().record([visit("c1")]);
    await sql(
      `INSERT INTO outcomes SELECT 3, 'offer', 'new/0/0/' || n, 0, '' FROM
         (WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?) SELECT n FROM i)`,
      KEYS_MAX - 4,
    );
    later(10_000);
    await object().record([visit("c2", decision({ position: "new" }))]);
    expect(await rowAt("new/3/1/-")).toBeUndefined();
    expect(await clientsAt("all")).toBe(2n);
    await expectSumsOfRows();
  });

  it("so many versions: the one that changed the longest ago goes, and begins anew when no client says it is in it", async () => {
    for (let version = 1; version <= VERSIONS_MAX; version++) {
      later(10_000);
      await object().record([visit(`c${version}`, decision({ policyVersion: version }))]);
    }
    later(10_000);
    await object().record([visit("c1", decision({ policyVersion: 1 }))]);
    const all = await versions();
    expect(all).toHaveLength(VERSIONS_MAX);
    later(10_000);
    await object().record([visit("new", decision({ policyVersion: 99 }))]);
    expect(await versions()).toEqual([...all.filter((version) => version !== 2), 99]);
    expect(await clientsAt("all", 99)).toBe(1n);
    const goneMs = Date.now();
    // Its client comes again, and another one: neither has a part in what is not there, also after the object was evicted.
    for (const client of ["c2", "other"]) {
      later(10_000);
      await evictDurableObject(object());
      await object().record([visit(client, decision({ policyVersion: 2 }))]);
      expect((await assigned())[`client ${client}`]?.rows).toEqual({});
    }
    expect(await versions()).not.toContain(2);
    vi.setSystemTime(goneMs + RETENTION_MS);
    await object().record([visit("late", decision({ policyVersion: 2 }))]);
    expect(await versions()).toContain(2);
    expect(await clientsAt("all", 2)).toBe(1n);
  });

  it("more versions at a time than there may be: those that came first give way, and their clients have no part in them", async () => {
    const visits = Array.from({ length: VERSIONS_MAX + 2 }, (_, i) => visit(`c${i}`, decision({ policyVersion: i })));
    await object().record(visits);
    expect(await versions()).toHaveLength(VERSIONS_MAX);
    await expectSumsOfRows();
  });

  it("ninety days after the last change, also when no client's row is left; then nothing is left", async () => {
    await object().record([visit("c1")]);
    const beganMs = Date.now();
    for (const [afterMs, rows] of [
      [RETENTION_MS, 4],
      [OUTCOMES_RETENTION_MS - 1, 4],
      [OUTCOMES_RETENTION_MS, 0],
    ] as const) {
      vi.setSystemTime(beganMs + afterMs);
      await evictDurableObject(object());
      await runDurableObjectAlarm(object());
      expect(await rowsOf()).toHaveLength(rows);
      expect(await object().lookUp({ client: "c1" })).toEqual({});
      const alarm = await runInDurableObject(object(), (_, state) => state.storage.getAlarm());
      if (rows > 0) expect(alarm).toBe(Math.max(beganMs + OUTCOMES_RETENTION_MS, Date.now() + 3_600_000));
      else expect(alarm).toBeNull();
    }
    expect(await sql("SELECT name FROM sqlite_master WHERE name IN ('paths', 'outcomes')")).toEqual([]);
    await object().record([visit("c1")]);
    await expectSumsOfRows();
  });
});

describe("outcomes that cannot be read", () => {
  it.each(["'{'", ...["sums", "load", "lcp"].map((part) => `json_set(state, '$.${part}', 1)`)])(
    "a row that is %s takes nothing more, and its clients go on elsewhere",
    async (corrupt) => {
      await object().record([visit("c1"), visit("c2")]);
      await sql(`UPDATE outcomes SET state = ${corrupt} WHERE key = 'rtt/2'`);
      await evictDurableObject(object());
      for (const client of ["c1", "c2", "c3", "c1"]) {
        later(10_000);
        await object().record([visit(client)]);
      }
      expect(await rowAt("rtt/2")).toBeUndefined();
      expect(Object.values(await assigned()).map((one) => Object.keys(one?.rows ?? {}))).not.toContain("rtt/2");
      expect(await clientsAt("all")).toBe(3n);
      await expectSumsOfRows();
    },
  );

  it.each(["{", "null", '{"assigned":{"version":3}}', '{"assigned":{"version":3,"arm":"policy","rows":{}}}'])(
    "a client's row that is %s is none",
    async (state) => {
      await object().record([visit("c1")]);
      await sql("UPDATE paths SET state = ? WHERE key = 'client c1'", state);
      await evictDurableObject(object());
      expect(await object().lookUp({ client: "c1" })).not.toHaveProperty("decided");
      await object().record([visit("c1")]);
      expect(await clientsAt("all")).toBe(2n);
    },
  );
});
