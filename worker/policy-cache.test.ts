import { describe, expect, it } from "vitest";
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
});
