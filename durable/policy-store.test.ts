import fc from "fast-check";
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type ActivationChange,
  type InForce,
  INITIAL_ACTIVATION,
  KILL_SWITCHES,
  type KillSwitch,
  OFFER_LONGEST_MS,
  type Stage,
} from "../policy-api/decision/activation.ts";
import { INITIAL_POLICY, type Policy, POLICY_OUTDATED_MS, UNREADABLE } from "../policy-api/decision/policy.ts";
import { faultsOfWriters, type WriterStep } from "../policy-api/decision/testing-activations.ts";
import { adaptivePolicy, NOON_MS } from "../policy-api/decision/testing.ts";
import type { ActivationRequest, Creation, Precondition } from "../policy-api/decision/versions.ts";
import { INITIAL_VERSION } from "./policy-tables.ts";
import { bindings, freshStorage } from "./testing.ts";

freshStorage();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON_MS });
});
afterEach(() => {
  vi.useRealTimers();
});
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

const storeNamed = (name: string) => bindings.POLICY.get(bindings.POLICY.idFromName(name));
const store = () => storeNamed("policy");
const fixed = (mode: Policy["mode"], over: Partial<Policy> = {}): Policy => ({ ...INITIAL_POLICY, mode, ...over });
/** Different policies, as many as needed. */
const numbered = (n: number): Policy => fixed("observe", { source: `policy ${n}` });

const create = (policy: Policy, over: Partial<Creation> = {}) =>
  store().create({ policy, author: "ann", note: null, ...over });
const change = (to: ActivationChange, ifMatch: Precondition = "*", over: Partial<ActivationRequest> = {}) =>
  store().change(to, { author: "bob", note: null, ifMatch, ...over });
const put = (everyone: number, stages: readonly Stage[] = []): ActivationChange => ({ kind: "put", everyone, stages });
const kill = (to: KillSwitch | null): ActivationChange => ({ kind: "kill-switch", to });
const rollback: ActivationChange = { kind: "rollback" };

const whole = async () => {
  const bundle = await store().bundle();
  if (bundle === "unchanged") throw new Error("unchanged, though nothing was held");
  return bundle;
};
const inForce = async () => (await whole()).inForce;
const all = { limit: 100 };
const audit = async () => (await store().audit(all)).items;
const withSql = async <T>(use: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(store(), (_, { storage }) => use(storage.sql));
const sql = async (statement: string, ...values: SqlStorageValue[]) =>
  withSql((storage) => storage.exec(statement, ...values).toArray());
/** Makes a version unreadable, which no call can do. */
const corrupt = async (version: number, text: string): Promise<void> => {
  await sql("DROP TRIGGER IF EXISTS policies_no_update");
  await sql("UPDATE policies SET policy = ? WHERE version = ?", text, version);
};
/** The message of the error that a call inside the object throws. */
const refusal = async (
  act: (instance: {
    create(creation: Creation): unknown;
    change(to: ActivationChange, by: ActivationRequest): unknown;
  }) => unknown,
): Promise<string> =>
  runInDurableObject(store(), async (instance) => {
    try {
      await act(instance);
      return "";
    } catch (error) {
      return String(error);
    }
  });

describe("a store in which nobody has put a policy", () => {
  it("observes", async () => {
    expect(await inForce()).toEqual({
      revision: 0,
      sinceMs: 0,
      everyone: { version: 0, policy: INITIAL_POLICY },
      stages: [],
      killSwitch: null,
      earlierOffersUntilMs: 0,
    });
    expect(await store().activation()).toEqual(INITIAL_ACTIVATION);
    expect(await store().version(0)).toEqual({ version: INITIAL_VERSION, policy: INITIAL_POLICY });
    expect(await store().versions(all)).toEqual({ items: [], next: null, latest: 0 });
    expect(await store().activations(all)).toEqual({ items: [], next: null });
    expect(await audit()).toEqual([]);
  });

  it("makes a key once and keeps it", async () => {
    const first = new Uint8Array((await whole()).hashKey);
    expect(first).toHaveLength(32);
    expect(new Set(first).size).toBeGreaterThan(8);
    await evictDurableObject(store());
    expect(new Uint8Array((await whole()).hashKey)).toEqual(first);
  });
});

describe("versions", () => {
  it("are kept, each with who made it and when, over an eviction", async () => {
    expect(await create(fixed("fixed-h2"))).toMatchObject({ kind: "created", isNew: true });
    later(1000);
    const made = await create(adaptivePolicy({ source: "measured" }), { author: "bob", note: "n" });
    await evictDurableObject(store());
    expect(made).toEqual({
      kind: "created",
      isNew: true,
      version: {
        version: 2,
        contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        author: "bob",
        note: "n",
        createdAt: new Date(NOON_MS + 1000).toISOString(),
        mode: "adaptive",
        source: "measured",
      },
    });
    expect(await store().version(2)).toEqual({
      version: made.kind === "created" && made.version,
      policy: adaptivePolicy({ source: "measured" }),
    });
    expect((await store().version(1))?.policy).toEqual(fixed("fixed-h2"));
    expect(await store().version(3)).toBeUndefined();
    expect((await inForce())?.everyone.version).toBe(0);
  });

  it("of the same content are one, whoever adds it and in whatever order its fields come", async () => {
    const policy = adaptivePolicy({ source: "s" });
    await create(policy, { note: "first" });
    await create(numbered(1));
    const reversed = Object.fromEntries(Object.entries(policy).toReversed()) as unknown as Policy;
    expect(await create(reversed, { author: "eve", note: "second" })).toMatchObject({
      kind: "created",
      isNew: false,
      version: { version: 1, author: "ann", note: "first" },
    });
    expect((await store().versions(all)).items).toHaveLength(2);
    expect(await audit()).toHaveLength(2);
  });

  it("with what may be left out are the same as without", async () => {
    await create({ schema: 3, mode: "observe" } as Policy);
    expect(await create(INITIAL_POLICY)).toMatchObject({ isNew: false, version: { version: 1 } });
  });

  it("are known by the SHA-256 of the policy's JSON", async () => {
    const text = new TextEncoder().encode(JSON.stringify(INITIAL_POLICY));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    expect(await create(INITIAL_POLICY)).toMatchObject({ version: { contentHash: hex } });
  });

  it("that are not valid are refused, and nothing of them stays", async () => {
    const text = await refusal((instance) =>
      instance.create({
        policy: { mode: "always" } as unknown as Policy,
        author: "a",
        note: null,
        idempotencyKey: "k",
      }),
    );
    expect(text).toContain("/schema is missing");
    expect(await store().versions(all)).toMatchObject({ items: [], latest: 0 });
    expect(await create(numbered(1), { idempotencyKey: "k" })).toMatchObject({ isNew: true });
  });

  it.each<[string, Precondition | undefined, string]>([
    ["none", undefined, "created"],
    ["whatever there is", "*", "created"],
    ["the newest", [1], "created"],
    ["one of these", [0, 1, 7], "created"],
    ["an earlier one", [0], "precondition-failed"],
    ["none of these", [], "precondition-failed"],
  ])("under a condition: %s", async (_name, ifMatch, kind) => {
    await create(numbered(1));
    const made = await create(numbered(2), { ifMatch });
    expect(made.kind).toBe(kind);
    if (made.kind === "precondition-failed") expect(made.latest).toBe(1);
    expect((await store().versions(all)).latest).toBe(kind === "created" ? 2 : 1);
  });
});

describe("a creation's key", () => {
  it("answers a second call as the first, whatever has come between", async () => {
    const first = await create(numbered(1), { idempotencyKey: "k", note: "n", ifMatch: [0] });
    await create(numbered(2));
    await evictDurableObject(store());
    later(86_400_000 - 1);
    expect(await create(numbered(1), { idempotencyKey: "k", note: "n", ifMatch: [0] })).toEqual(first);
    expect((await store().versions(all)).latest).toBe(2);
    expect(await audit()).toHaveLength(2);
  });

  it("remembers that the policy was there before, too", async () => {
    await create(numbered(1));
    for (let i = 0; i < 2; i++)
      expect(await create(numbered(1), { idempotencyKey: "k" })).toMatchObject({
        isNew: false,
        version: { version: 1 },
      });
  });

  it.each<[string, Policy, Partial<Creation>]>([
    ["another policy", numbered(2), {}],
    ["a policy that is there", numbered(0), {}],
    ["another note", numbered(1), { note: "other" }],
    ["no note", numbered(1), { note: null }],
  ])("does not come twice with %s", async (_name, policy, over) => {
    await create(numbered(0));
    await create(numbered(1), { idempotencyKey: "k", note: "n" });
    expect(await create(policy, { idempotencyKey: "k", note: "n", ...over })).toEqual({ kind: "key-reused" });
    expect((await store().versions(all)).latest).toBe(2);
  });

  it("is of one author, and not of what failed", async () => {
    await create(numbered(1), { idempotencyKey: "k" });
    expect(await create(numbered(2), { idempotencyKey: "k", author: "bob" })).toMatchObject({
      version: { version: 2 },
    });
    expect((await create(numbered(3), { idempotencyKey: "l", ifMatch: [0] })).kind).toBe("precondition-failed");
    expect(await create(numbered(4), { idempotencyKey: "l" })).toMatchObject({ version: { version: 3 } });
  });

  it("is forgotten after a day", async () => {
    await create(numbered(1), { idempotencyKey: "k" });
    later(86_400_000);
    expect(await create(numbered(2), { idempotencyKey: "k" })).toMatchObject({ isNew: true, version: { version: 2 } });
    expect(await sql("SELECT version FROM idempotency")).toEqual([{ version: 2 }]);
  });
});

describe("the activation", () => {
  beforeEach(async () => {
    for (const mode of ["fixed-h3", "fixed-h2", "observe"] as const) await create(fixed(mode, { source: mode }));
  });

  it("gives versions to everyone, to shares, to paths, over an eviction", async () => {
    const stages = [
      { version: 2, share: 0.05, pathPrefix: "/shop/" },
      { version: 3, share: 1 },
    ];
    const activation = {
      revision: 1,
      everyone: 1,
      stages,
      killSwitch: null,
      author: "bob",
      note: "n",
      cause: { step: "tries", version: 2 } as const,
      at: new Date(NOON_MS).toISOString(),
      previousRevision: 0,
    };
    expect(await change(put(1, stages), [0], { note: "n", cause: activation.cause })).toEqual({
      kind: "changed",
      activation,
    });
    await evictDurableObject(store());
    expect(await store().activation()).toEqual(activation);
    expect(await inForce()).toEqual({
      revision: 1,
      sinceMs: NOON_MS,
      everyone: { version: 1, policy: fixed("fixed-h3", { source: "fixed-h3" }) },
      stages: [
        { version: 2, share: 0.05, pathPrefix: "/shop/", policy: fixed("fixed-h2", { source: "fixed-h2" }) },
        { version: 3, share: 1, policy: fixed("observe", { source: "observe" }) },
      ],
      killSwitch: null,
      earlierOffersUntilMs: 0,
    });
    expect((await store().activations(all)).items).toEqual([activation]);
  });

  it.each<[string, Precondition, string]>([
    ["whatever there is", "*", "changed"],
    ["what is in force", [1], "changed"],
    ["one of these", [0, 1], "changed"],
    ["what was", [0], "precondition-failed"],
    ["what will be", [2], "precondition-failed"],
    ["none", [], "precondition-failed"],
  ])("under a condition: %s", async (_name, ifMatch, kind) => {
    await change(put(1));
    const result = await change(put(2), ifMatch);
    expect(result.kind).toBe(kind);
    if (result.kind === "precondition-failed") expect(result.current).toMatchObject({ revision: 1, everyone: 1 });
    expect(await store().activation()).toMatchObject(
      kind === "changed" ? { revision: 2, everyone: 2 } : { revision: 1 },
    );
  });

  it.each<[string, ActivationChange, number[]]>([
    ["for everyone", put(9), [9]],
    ["for a stage", put(1, [{ version: 8, share: 1 }]), [8]],
    [
      "all of them, once",
      put(9, [
        { version: 8, share: 1 },
        { version: 9, share: 1 },
      ]),
      [9, 8],
    ],
  ])("no version that is not there: %s", async (_name, to, versions) => {
    expect(await change(to)).toEqual({ kind: "unusable-versions", versions: versions.map((version) => ({ version })) });
    expect(await store().activation()).toEqual(INITIAL_ACTIVATION);
    expect(await audit()).toHaveLength(3);
  });

  it("of the same is no revision and no entry in the audit", async () => {
    const first = await change(put(1, [{ version: 2, share: 0.5 }]));
    later(1000);
    expect(await change(put(1, [{ version: 2, share: 0.5 }]), [1], { author: "eve", note: "again" })).toEqual(first);
    expect(await change(kill(null))).toEqual(first);
    expect((await audit()).map(({ action }) => action)).toEqual([
      "activation.put",
      ...Array.from({ length: 3 }, () => "policy.create"),
    ]);
    // The condition must hold here too.
    expect((await change(put(1, [{ version: 2, share: 0.5 }]), [0])).kind).toBe("precondition-failed");
  });

  it("goes back over an eviction, once for each change, to before the first and no further", async () => {
    await change(put(1));
    await change(put(2, [{ version: 1, share: 0.1 }]));
    await change(kill("clear"));
    await evictDurableObject(store());
    const states = [];
    for (let i = 0; i < 4; i++) {
      const result = await change(rollback);
      states.push(
        result.kind === "changed"
          ? [result.activation.revision, result.activation.everyone, result.activation.killSwitch]
          : result.kind,
      );
    }
    expect(states).toEqual([[4, 2, null], [5, 1, null], [6, 0, null], "nothing-before"]);
  });

  it("with the kill switch keeps its versions, and a put the kill switch", async () => {
    await change(put(1, [{ version: 2, share: 0.5 }]));
    await change(kill("fixed-h2"));
    expect(await inForce()).toMatchObject({
      everyone: { version: 1 },
      stages: [{ version: 2 }],
      killSwitch: "fixed-h2",
    });
    await change(put(3));
    expect(await inForce()).toMatchObject({ everyone: { version: 3 }, stages: [], killSwitch: "fixed-h2" });
    await change(kill(null));
    expect(await inForce()).toMatchObject({ everyone: { version: 3 }, killSwitch: null });
  });
});

describe("until when earlier offers may live", () => {
  const livesMs = 100_000 + POLICY_OUTDATED_MS;
  const until = async () => (await inForce())?.earlierOffersUntilMs ?? -1;
  beforeEach(async () => {
    await create(fixed("fixed-h3", { ma: { minS: 1, maxS: 100 } }));
    await create(fixed("fixed-h2"));
    await create(fixed("observe"));
  });

  it("is remembered over what offers nothing", async () => {
    await change(put(1));
    expect(await until()).toBe(0);
    later(1000);
    await change(put(2));
    expect(await until()).toBe(NOON_MS + 1000 + livesMs);
    later(1000);
    await change(put(3));
    expect(await until()).toBe(NOON_MS + 1000 + livesMs);
  });

  it("counts offers of a stage, and of what is gone back to", async () => {
    await change(put(2, [{ version: 1, share: 0.01, pathPrefix: "/a/" }]));
    await change(rollback);
    expect(await until()).toBe(NOON_MS + livesMs);
    later(1000);
    await change(put(1));
    later(1000);
    await change(rollback);
    expect(await until()).toBe(NOON_MS + 2000 + livesMs);
  });

  it("under the kill switch counts what was offered before it, and nothing while it is on", async () => {
    await change(put(1));
    later(1000);
    await change(kill("fixed-h2"));
    expect(await until()).toBe(NOON_MS + 1000 + livesMs);
    later(1000);
    await change(kill("clear"));
    later(1000);
    await change(kill(null));
    expect(await until()).toBe(NOON_MS + 1000 + livesMs);
    later(1000);
    await change(put(2));
    expect(await until()).toBe(NOON_MS + 4000 + livesMs);
  });

  it("of a version that cannot be read is the longest that an offer may live", async () => {
    await change(put(3));
    await corrupt(3, "{");
    await change(put(2));
    expect(await until()).toBe(NOON_MS + POLICY_OUTDATED_MS + OFFER_LONGEST_MS);
  });
});

describe("what an isolate is told", () => {
  it("is all of it, or that it has it already", async () => {
    expect(await store().bundle(0)).toBe("unchanged");
    await create(fixed("fixed-h3"));
    expect(await store().bundle(0)).toBe("unchanged");
    await change(put(1));
    for (const held of [undefined, 0, 2, -1]) {
      const bundle = await store().bundle(held);
      expect(bundle === "unchanged" ? undefined : bundle.inForce?.revision).toBe(1);
    }
    expect(await store().bundle(1)).toBe("unchanged");
    await change(kill("clear"));
    expect(await store().bundle(1)).toMatchObject({ inForce: { revision: 2, killSwitch: "clear" } });
  });
});

describe("a kill switch that an isolate could not store at first", () => {
  /** Given at noon, by an isolate that knew revision 1. */
  const order = { kind: "clear", author: "ann", note: null, atMs: NOON_MS, revision: 1 } as const;
  beforeEach(async () => {
    await create(fixed("fixed-h3"));
    later(-60_000);
    await change(put(1));
    later(60_000);
  });

  it.each([
    ["nothing", [], "clear"],
    ["another version, and back", [put(0), rollback], "clear"],
    ["on and off", [kill("clear"), kill(null)], null],
    ["on and back by a rollback", [kill("fixed-h2"), rollback], null],
    ["on, of another kind", [kill("fixed-h2")], "fixed-h2"],
  ] as const)("is stored unless the switch was changed since: %s", async (_, changes, inForceThen) => {
    for (const one of changes) await change(one);
    const revision = await store().storeKill(order);
    expect(await inForce()).toMatchObject({ revision, killSwitch: inForceThen });
  });

  it("is stored once, whoever holds it", async () => {
    const revision = await store().storeKill(order);
    later(5_000);
    expect(await store().storeKill(order)).toBe(revision);
    await change(kill(null));
    expect(await store().storeKill(order)).toBe(revision + 1);
    expect((await inForce())?.killSwitch).toBeNull();
  });

  it.each([
    ["an isolate knew an old revision: a change before it does not count", 1, NOON_MS, "clear"],
    ["a store that never answered the isolate", undefined, NOON_MS, "clear"],
    ["the same, and the clock was set back", undefined, NOON_MS + 3_600_000, "clear"],
    ["a clock that was set back: the revision counts", 1, NOON_MS + 3_600_000, null],
  ] as const)("%s", async (_, revision, atMs, inForceThen) => {
    later(-1_000);
    await change(kill("fixed-h2"));
    await change(kill(null));
    later(2_000);
    await store().storeKill({ ...order, revision, atMs });
    expect((await inForce())?.killSwitch).toBe(inForceThen);
  });
});

describe("the audit", () => {
  it("has one entry for each change, with who made it, newest first", async () => {
    await create(fixed("fixed-h3"), { note: "first" });
    later(1);
    await change(put(1, [{ version: 0, share: 0.5 }]), "*", { note: "all" });
    later(1);
    await change(kill("fixed-h2"), "*", { author: "eve" });
    await change(kill("clear"));
    await change(kill(null));
    await change(rollback, "*", { note: "oh" });
    await store().note("dan", "client.forget");
    await store().note("dan", "client.forget");
    const entry = (id: number, actor: string, action: string, over: object = {}) => ({
      id,
      actor,
      action,
      at: new Date(NOON_MS + Math.min(2, id - 1)).toISOString(),
      version: null,
      revision: null,
      activation: null,
      note: null,
      ...over,
    });
    const since = (killSwitch: KillSwitch | null) => ({
      activation: { everyone: 1, stages: [{ version: 0, share: 0.5 }], killSwitch },
    });
    expect(await audit()).toEqual([
      entry(8, "dan", "client.forget"),
      entry(7, "dan", "client.forget"),
      entry(6, "bob", "activation.rollback", { revision: 5, note: "oh", ...since("clear") }),
      entry(5, "bob", "kill-switch.off", { revision: 4, ...since(null) }),
      entry(4, "bob", "kill-switch.on", { revision: 3, ...since("clear") }),
      entry(3, "eve", "kill-switch.on", { revision: 2, ...since("fixed-h2") }),
      entry(2, "bob", "activation.put", { revision: 1, note: "all", ...since(null) }),
      entry(1, "ann", "policy.create", { version: 1, note: "first" }),
    ]);
  });

  it("has none for what was refused", async () => {
    await change(put(9));
    await change(put(0), [7]);
    await change(rollback);
    await create(numbered(1), { ifMatch: [7] });
    expect(await audit()).toEqual([]);
  });
});

describe("pages", () => {
  it.each([
    [2, undefined, [5, 4], 4],
    [2, 4, [3, 2], 2],
    [2, 2, [1], null],
    [5, undefined, [5, 4, 3, 2, 1], null],
    [100, undefined, [5, 4, 3, 2, 1], null],
    [4, 6, [5, 4, 3, 2], 2],
    [1, 1, [], null],
    [1, 0, [], null],
    [3, Number.MAX_SAFE_INTEGER, [5, 4, 3], 3],
  ])("of %i, before %s: %j, then %s", async (limit, before, numbers, next) => {
    for (let i = 1; i <= 5; i++) {
      await create(numbered(i));
      await change(put(i));
    }
    const versions = await store().versions({ limit, before });
    expect([versions.items.map(({ version }) => version), versions.next, versions.latest]).toEqual([numbers, next, 5]);
    const activations = await store().activations({ limit, before });
    expect([activations.items.map(({ revision }) => revision), activations.next]).toEqual([numbers, next]);
    const entries = await store().audit({ limit: limit * 2, before: before && before * 2 - 1 });
    expect(entries.items.map(({ id }) => id).filter((id) => id % 2 === 0)).toEqual(numbers.map((n) => n * 2));
  });
});

describe("what is kept of the past", () => {
  it.each(["policies", "activations", "audit"])("cannot be altered or deleted: %s", async (table) => {
    await create(numbered(1));
    await change(put(1));
    const column = table === "activations" ? "state" : table === "audit" ? "actor" : "policy";
    await withSql((storage) => {
      const before = storage.exec(`SELECT * FROM ${table}`).toArray();
      expect(before).toHaveLength(table === "audit" ? 2 : 1);
      for (const statement of [`UPDATE ${table} SET ${column} = 'x'`, `DELETE FROM ${table}`])
        expect(() => storage.exec(statement), statement).toThrow("append-only");
      expect(storage.exec(`SELECT * FROM ${table}`).toArray()).toEqual(before);
    });
  });
});

describe("nothing is half done when the disk fails", () => {
  const failing = async (table: string): Promise<void> => {
    await sql(`CREATE TRIGGER broken BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END`);
  };
  const tables = async () =>
    withSql((storage) =>
      ["policies", "activations", "audit", "idempotency"].map((table) =>
        storage.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    );

  it.each(["policies", "audit", "idempotency"])("a creation, where %s takes nothing", async (table) => {
    await create(numbered(1), { idempotencyKey: "j" });
    await failing(table);
    const before = await tables();
    const text = await refusal((instance) =>
      instance.create({ policy: numbered(2), author: "a", note: null, idempotencyKey: "k" }),
    );
    expect(text).toContain("disk I/O error");
    expect(await tables()).toEqual(before);
    await sql("DROP TRIGGER broken");
    expect(await create(numbered(2), { idempotencyKey: "k" })).toMatchObject({ isNew: true, version: { version: 2 } });
  });

  it.each(["activations", "audit"])("a change, where %s takes nothing", async (table) => {
    await create(numbered(1));
    await change(put(1));
    await failing(table);
    const before = await tables();
    for (const to of [put(0), kill("clear"), rollback]) {
      const text = await refusal((instance) => instance.change(to, { author: "a", note: null, ifMatch: "*" }));
      expect(text).toContain("disk I/O error");
    }
    expect(await tables()).toEqual(before);
    expect(await store().bundle(1)).toBe("unchanged");
    await sql("DROP TRIGGER broken");
    expect(await change(put(0))).toMatchObject({ activation: { revision: 2 } });
  });
});

describe("what cannot be read", () => {
  const fault = UNREADABLE;
  it.each<[string, Policy["mode"] | null]>([
    ["{", null],
    ['{"schema":3,"mode":"always"}', null],
    ['{"schema":2,"mode":"fixed-h3"}', "fixed-h3"],
    ["null", null],
    ["", null],
    ["[1]", null],
  ])("a policy, %j: nothing is said to those whom it is for", async (text, mode) => {
    await create(fixed("fixed-h3"));
    await create(fixed("fixed-h2"));
    await change(put(1, [{ version: 2, share: 0.5 }]));
    await change(put(2));
    await corrupt(2, text);
    expect(await store().version(2)).toEqual({
      version: expect.objectContaining({ version: 2, author: "ann", mode, source: null }) as unknown,
      fault,
    });
    expect((await store().versions(all)).items).toHaveLength(2);
    expect((await inForce())?.everyone).toEqual({ version: 2, fault });
    const unusable = { kind: "unusable-versions", versions: [{ version: 2, fault }] };
    expect(await change(put(1, [{ version: 2, share: 0.5 }]))).toEqual(unusable);
    expect(await change(rollback)).toEqual(unusable);
    expect(await change(kill("clear"))).toMatchObject({ kind: "changed", activation: { killSwitch: "clear" } });
    await change(kill(null));
    await change(put(1));
    expect((await inForce())?.everyone).toMatchObject({ version: 1, policy: { mode: "fixed-h3" } });
  });

  const states = [
    "{",
    "null",
    '{"everyone":1,"stages":[]}',
    '{"everyone":"1","stages":[],"killSwitch":null}',
    '{"everyone":1,"stages":[{"version":1,"share":2}],"killSwitch":null}',
    '{"everyone":1,"stages":[],"killSwitch":"off"}',
    '{"everyone":1,"stages":[],"killSwitch":null,"more":1}',
  ];
  it.each(states)("an activation, %s: nothing is said to anybody until another is put", async (state) => {
    await create(fixed("fixed-h3"));
    await change(put(1));
    await sql(
      `INSERT INTO activations (state, previous_revision, author, at_ms, earlier_offers_until_ms)
       VALUES (?, 1, 'a', 0, 0)`,
      state,
    );
    expect(await store().activation()).toBeUndefined();
    const bundle = await whole();
    expect(bundle.inForce).toBeUndefined();
    expect(bundle.hashKey.byteLength).toBe(32);
    expect(await store().bundle(1)).toEqual(bundle);
    // It is not in a list, and lists still work.
    expect((await store().activations({ limit: 1 })).items).toEqual([]);
    expect((await store().activations(all)).items.map(({ revision }) => revision)).toEqual([1]);

    expect(await change(rollback)).toEqual({ kind: "nothing-before" });
    expect(await change(put(1), [1])).toMatchObject({ kind: "precondition-failed", current: { revision: 2 } });
    // Nobody knows what the unreadable one said. So any new one is a change, even if it says the same.
    expect(await change(put(0), [2])).toMatchObject({ kind: "changed", activation: { revision: 3, everyone: 0 } });
    expect((await inForce())?.earlierOffersUntilMs).toBe(NOON_MS + POLICY_OUTDATED_MS + OFFER_LONGEST_MS);
    expect(await change(rollback)).toEqual({ kind: "nothing-before" });
  });
});

describe("several who write", () => {
  const stage: fc.Arbitrary<Stage> = fc.record(
    { version: fc.nat(3), share: fc.constantFrom(0.05, 0.5, 1) },
    { noNullPrototype: true },
  );
  const to: fc.Arbitrary<ActivationChange> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.tuple(fc.nat(3), fc.array(stage, { maxLength: 2 })).map(([n, stages]) => put(n, stages)),
    },
    fc.constantFrom(...KILL_SWITCHES, null).map(kill),
    fc.constant(rollback),
  );
  const step: fc.Arbitrary<WriterStep> = fc.oneof(
    fc.record({ writer: fc.nat(2), does: fc.constant("read" as const) }),
    fc.record({ writer: fc.nat(2), does: fc.constant("write" as const), change: to }),
    fc.record({ writer: fc.nat(2), does: fc.constantFrom("write" as const, "write-whatever" as const), change: to }),
  );
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });

  it(
    "one of those who have read the same wins, nothing acknowledged is lost, and the audit tells all",
    { timeout: 60_000 },
    async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(rounds, async (steps) => {
          const name = `writers ${run++}`;
          for (let version = 1; version <= 3; version++)
            await storeNamed(name).create({ policy: numbered(version), author: "a", note: null });
          // A stub for each call, as calls over one stub arrive in order. Real writers have their own stubs.
          const faults = await faultsOfWriters(
            {
              activation: async () => storeNamed(name).activation(),
              activations: async (page) => storeNamed(name).activations(page),
              change: async (one, by) => storeNamed(name).change(one, by),
            },
            steps,
          );
          expect(faults).toEqual([]);
          const { items } = await storeNamed(name).activations({ limit: 1000 });
          const entries = (await storeNamed(name).audit({ limit: 1000 })).items.filter(
            ({ revision }) => revision !== null,
          );
          expect(entries.map(({ revision, actor }) => [revision, actor])).toEqual(
            items.map(({ revision, author }) => [revision, author]),
          );
          const current: InForce | undefined = await storeNamed(name).inForce();
          expect(current?.revision).toBe(items[0]?.revision ?? 0);
        }),
        { numRuns: 60 },
      );
    },
  );

  it("the same policy added by many at once is one version", async () => {
    const made = await Promise.all(Array.from({ length: 10 }, (_, i) => create(numbered(1), { author: `a${i}` })));
    expect(made.filter((one) => one.kind === "created" && one.isNew)).toHaveLength(1);
    expect((await store().versions(all)).items).toHaveLength(1);
  });

  it("of many who add to the same newest version one does", async () => {
    const made = await Promise.all(Array.from({ length: 10 }, (_, i) => create(numbered(i), { ifMatch: [0] })));
    expect(made.filter(({ kind }) => kind === "created")).toHaveLength(1);
    expect(made.filter((one) => one.kind === "precondition-failed" && one.latest === 1)).toHaveLength(9);
  });

  it("a call that is repeated while it runs is one version", async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => create(numbered(1), { idempotencyKey: "k" })));
    expect(new Set(made.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(made[0]).toMatchObject({ isNew: true });
  });
});

describe("a health check", () => {
  it("gets an id that stays over an eviction, and that another store does not have", async () => {
    const { id, activation } = await store().check();
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(activation).toEqual(INITIAL_ACTIVATION);
    await evictDurableObject(store());
    expect((await store().check()).id).toBe(id);
    expect((await storeNamed("another").check()).id).not.toBe(id);
  });

  it("has a row written at most once in ten seconds, and changes nothing by it", async () => {
    const before = await store().bundle();
    const writes = async (): Promise<number> =>
      runInDurableObject(store(), (object, state) => {
        const exec = vi.spyOn(Object.getPrototypeOf(state.storage.sql) as SqlStorage, "exec");
        object.tryWrite();
        const calls = exec.mock.calls.filter(([query]) => query.startsWith("UPDATE")).length;
        exec.mockRestore();
        return calls;
      });
    expect([await writes(), await writes()]).toEqual([1, 0]);
    later(9_999);
    expect(await writes()).toBe(0);
    later(1);
    expect(await writes()).toBe(1);
    // The clock was set back.
    later(-3_600_000);
    expect(await writes()).toBe(1);
    expect(await store().bundle()).toEqual(before);
  });

  it("a write that failed is told to every caller until the next try", async () => {
    await store().bundle();
    const tried = async (isBroken: boolean): Promise<boolean> =>
      runInDurableObject(store(), (object, state) => {
        const exec = vi.spyOn(Object.getPrototypeOf(state.storage.sql) as SqlStorage, "exec");
        if (isBroken)
          exec.mockImplementation(() => {
            throw new Error("database or disk is full");
          });
        try {
          object.tryWrite();
          return true;
        } catch {
          return false;
        } finally {
          exec.mockRestore();
        }
      });
    expect(await tried(true)).toBe(false);
    later(9_999);
    expect(await tried(false)).toBe(false);
    later(1);
    expect(await tried(false)).toBe(true);
    expect(await tried(false)).toBe(true);
  });
});
