import { describe, expect, it } from "vitest";
import type { PolicyBundle } from "../durable/policy-store.ts";
import { POLICY_CACHE_MS } from "../policy-api/core/policy.ts";
import { PolicyCache } from "./policy-cache.ts";
import { FakeStores, mode } from "./testing.ts";

const T = 1_000_000;

describe("PolicyCache", () => {
  it("is fresh for thirty seconds, then stale until renewed", async () => {
    const cache = new PolicyCache();
    const stores = new FakeStores(mode("fixed-h2"));
    expect(cache.held).toBeUndefined();
    expect(cache.due(T)).toBe(true);
    await cache.renew(stores, T);
    expect(cache.held?.inForce?.policy.mode).toBe("fixed-h2");
    expect(cache.due(T + POLICY_CACHE_MS - 1)).toBe(false);
    expect(cache.due(T + POLICY_CACHE_MS)).toBe(true);
    expect(cache.held?.inForce?.policy.mode).toBe("fixed-h2");
  });

  it("renews once at a time, and again when a renewal is lost", () => {
    const cache = new PolicyCache();
    const stores = { policy: () => new Promise<never>(() => undefined) };
    void cache.renew(stores, T);
    expect(cache.due(T + 4_999)).toBe(false);
    expect(cache.due(T + 5_000)).toBe(true);
  });

  it("goes on with the last known policy when the store is gone, and asks again soon", async () => {
    const cache = new PolicyCache();
    const stores = new FakeStores(mode("fixed-h2"));
    await cache.renew(stores, T);
    stores.bundle = new Error("gone");
    await cache.renew(stores, T + POLICY_CACHE_MS);
    expect(cache.held?.inForce?.policy.mode).toBe("fixed-h2");
    expect(cache.due(T + POLICY_CACHE_MS + 999)).toBe(false);
    expect(cache.due(T + POLICY_CACHE_MS + 1000)).toBe(true);
  });

  it("is outdated after twice that, when nobody came by", async () => {
    const cache = new PolicyCache();
    expect(cache.outdated(T)).toBe(true);
    await cache.renew(new FakeStores(mode("fixed-h2")), T);
    expect(cache.outdated(T + 2 * POLICY_CACHE_MS - 1)).toBe(false);
    expect(cache.outdated(T + 2 * POLICY_CACHE_MS)).toBe(true);
  });

  it("an answer to an older question does not replace a newer policy", async () => {
    const cache = new PolicyCache();
    const older = new FakeStores(mode("fixed-h3"));
    await cache.renew(older, T);
    const { promise, resolve } = Promise.withResolvers<PolicyBundle>();
    const slow = cache.renew({ policy: () => promise }, T + 1);
    expect(cache.install({ version: 4, policy: mode("fixed-h2"), earlierOffersUntilMs: 0 }, T + 2)).toBe(true);
    resolve(await older.policy());
    await slow;
    expect(cache.held?.inForce?.version).toBe(4);
  });

  it("cannot take a policy before it has a key to serve with", () => {
    const inForce = { version: 4, policy: mode("fixed-h2"), earlierOffersUntilMs: 0 };
    expect(new PolicyCache().install(inForce, T)).toBe(false);
  });
});
