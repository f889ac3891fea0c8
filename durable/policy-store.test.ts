import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy, POLICY_OUTDATED_MS } from "../policy-api/core/policy.ts";
import { adaptivePolicy } from "../policy-api/core/testing.ts";
import { bindings, freshStorage } from "./testing.ts";

freshStorage();

const store = () => bindings.POLICY.get(bindings.POLICY.idFromName("policy"));
const fixed = (mode: Policy["mode"]): Policy => ({ ...INITIAL_POLICY, mode });

describe("PolicyStore", () => {
  it("begins with observe, as version 0", async () => {
    expect((await store().bundle()).inForce).toEqual({ version: 0, policy: INITIAL_POLICY, earlierOffersUntilMs: 0 });
  });

  it("makes a key once and keeps it", async () => {
    const first = new Uint8Array((await store().bundle()).hashKey);
    expect(first).toHaveLength(32);
    expect(new Set(first).size).toBeGreaterThan(8);
    await evictDurableObject(store());
    expect(new Uint8Array((await store().bundle()).hashKey)).toEqual(first);
  });

  it("keeps every version, the newest in force, over an eviction", async () => {
    expect((await store().put(fixed("fixed-h2"))).version).toBe(1);
    expect((await store().put(adaptivePolicy())).version).toBe(2);
    await evictDurableObject(store());
    expect((await store().bundle()).inForce).toMatchObject({ version: 2, policy: adaptivePolicy() });
    const kept = await runInDurableObject(store(), (_, state) =>
      state.storage.sql.exec<{ version: number; policy: string }>("SELECT version, policy FROM policies").toArray(),
    );
    expect(kept.map((row) => [row.version, JSON.parse(row.policy)])).toEqual([
      [1, fixed("fixed-h2")],
      [2, adaptivePolicy()],
    ]);
  });

  it("makes no version of what is in force already", async () => {
    await store().put(fixed("fixed-h2"));
    expect((await store().put(fixed("fixed-h2"))).version).toBe(1);
  });

  it("remembers until when offers of earlier versions may live", async () => {
    const beforeMs = Date.now();
    expect((await store().put({ ...fixed("fixed-h3"), ma: { minS: 1, maxS: 100 } })).earlierOffersUntilMs).toBe(0);
    const ends = (await store().put(fixed("fixed-h2"))).earlierOffersUntilMs;
    expect(ends).toBeGreaterThanOrEqual(beforeMs + 100_000 + POLICY_OUTDATED_MS);
    expect(ends).toBeLessThanOrEqual(Date.now() + 100_000 + POLICY_OUTDATED_MS);
    expect((await store().put(fixed("observe"))).earlierOffersUntilMs).toBe(ends);
  });

  it("refuses a policy that is not valid and keeps the one in force", async () => {
    await store().put(fixed("fixed-h2"));
    await runInDurableObject(store(), (instance) => {
      expect(() => instance.put({ mode: "always" } as unknown as Policy)).toThrow("/schema is missing");
    });
    expect((await store().bundle()).inForce?.version).toBe(1);
  });

  it("with a row that cannot be read has no policy to give, until another is put", async () => {
    await store().put(fixed("fixed-h3"));
    for (const text of ["{", '{"schema":2,"mode":"always"}', '{"schema":1,"mode":"fixed-h3"}', "null"]) {
      await runInDurableObject(store(), (_, state) => {
        state.storage.sql.exec("UPDATE policies SET policy = ?", text);
      });
      expect((await store().bundle()).inForce).toBeUndefined();
    }
    const put = await store().put(fixed("fixed-h2"));
    expect(put.version).toBe(2);
    expect(put.earlierOffersUntilMs).toBeGreaterThan(Date.now());
  });
});
