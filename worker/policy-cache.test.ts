import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { PolicyBundle } from "../durable/policy-store.ts";
import { POLICY_CACHE_MS, POLICY_OUTDATED_MS } from "../policy-api/decision/policy.ts";
import { cacheNearby } from "./nearby.ts";
import { PolicyCache } from "./policy-cache.ts";
import { FakeStores, HASH_KEY, inForce, mode } from "./testing.ts";

const T = 1_000_000;
const held = (cache: PolicyCache): unknown => cache.current?.inForce?.everyone.policy?.mode;
const bundle = (revision: number): PolicyBundle => ({
  inForce: inForce(mode(revision % 2 === 0 ? "fixed-h2" : "fixed-h3"), { revision }),
  hashKey: HASH_KEY,
});

describe("PolicyCache", () => {
  it("is fresh for a while, then stale until renewed", async () => {
    const cache = new PolicyCache();
    const stores = new FakeStores(mode("fixed-h2"));
    expect(cache.current).toBeUndefined();
    expect(cache.due(T)).toBe(true);
    await cache.renew(stores, T);
    expect(held(cache)).toBe("fixed-h2");
    expect(cache.due(T + POLICY_CACHE_MS - 1)).toBe(false);
    expect(cache.due(T + POLICY_CACHE_MS)).toBe(true);
    expect(held(cache)).toBe("fixed-h2");
  });

  it("what has not changed is not sent again, and is fresh again", async () => {
    const cache = new PolicyCache();
    const stores = new FakeStores(mode("fixed-h2"));
    await cache.renew(stores, T);
    const before = cache.current;
    const asked: (number | undefined)[] = [];
    await cache.renew(
      {
        policyBundle: async (heldRevision) => {
          asked.push(heldRevision);
          return stores.policyBundle(heldRevision);
        },
      },
      T + POLICY_CACHE_MS,
    );
    expect(asked).toEqual([3]);
    expect(cache.current).toBe(before);
    expect(cache.due(T + 2 * POLICY_CACHE_MS - 1)).toBe(false);
    expect(cache.outdated(T + POLICY_CACHE_MS + POLICY_OUTDATED_MS - 1)).toBe(false);
  });

  it("renews once at a time, and again when a renewal is lost", () => {
    const cache = new PolicyCache();
    const stores = { policyBundle: () => new Promise<never>(() => undefined) };
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
    expect(held(cache)).toBe("fixed-h2");
    expect(cache.due(T + POLICY_CACHE_MS + 999)).toBe(false);
    expect(cache.due(T + POLICY_CACHE_MS + 1000)).toBe(true);
  });

  it("is outdated after 30 s, when nobody came by", async () => {
    const cache = new PolicyCache();
    expect(POLICY_OUTDATED_MS).toBe(30_000);
    expect(cache.outdated(T)).toBe(true);
    await cache.renew(new FakeStores(mode("fixed-h2")), T);
    expect(cache.outdated(T + POLICY_OUTDATED_MS - 1)).toBe(false);
    expect(cache.outdated(T + POLICY_OUTDATED_MS)).toBe(true);
  });

  it.each([
    ["an older question", T + 1, T + 2],
    ["a question of the same millisecond", T + 1, T + 1],
  ])("an answer to %s does not replace a newer revision", async (_name, slowMs, quickMs) => {
    const cache = new PolicyCache();
    await cache.renew({ policyBundle: async () => bundle(3) }, T);
    const { promise, resolve } = Promise.withResolvers<PolicyBundle>();
    const slow = cache.renew({ policyBundle: () => promise }, slowMs);
    await cache.renew({ policyBundle: async () => bundle(4) }, quickMs);
    resolve(bundle(3));
    await slow;
    expect(cache.current?.inForce?.revision).toBe(4);
  });

  it("holds the key, and no policy, where the stored one cannot be read; and what takes its place", async () => {
    const cache = new PolicyCache();
    await cache.renew({ policyBundle: async () => bundle(3) }, T);
    await cache.renew({ policyBundle: async () => ({ hashKey: HASH_KEY }) }, T + POLICY_CACHE_MS);
    expect(cache.current?.hasher).toBeDefined();
    expect(cache.current?.inForce).toBeUndefined();
    await cache.renew({ policyBundle: async () => bundle(5) }, T + 2 * POLICY_CACHE_MS);
    expect(cache.current?.inForce?.revision).toBe(5);
  });

  it("what is outdated is waited for by every request, not by the first alone; not while the store fails or hangs", async () => {
    const ctx = { waitUntil: () => undefined };
    const cache = new PolicyCache();
    await cache.renew({ policyBundle: async () => bundle(3) }, T);
    const later = T + POLICY_OUTDATED_MS;
    const { promise, resolve } = Promise.withResolvers<PolicyBundle>();
    const seen: unknown[] = [];
    const pages = [0, 1, 2].map(async () => {
      await cache.ready({ policyBundle: () => promise }, ctx, later);
      seen.push(cache.current?.inForce?.revision);
    });
    await Promise.resolve();
    expect(seen).toEqual([]);
    resolve(bundle(4));
    await Promise.all(pages);
    expect(seen).toEqual([4, 4, 4]);

    let asked = 0;
    const failing = {
      policyBundle: async () => {
        asked++;
        throw new Error("gone");
      },
    };
    for (const ms of [0, 1, 999]) await cache.ready(failing, ctx, later + POLICY_OUTDATED_MS + ms);
    expect(asked).toBe(1);
    await cache.ready(failing, ctx, later + POLICY_OUTDATED_MS + 1000);
    expect(asked).toBe(2);
    const hangs = { policyBundle: () => new Promise<never>(() => undefined) };
    void cache.ready(hangs, ctx, later + 3 * POLICY_OUTDATED_MS);
    // After a second nobody waits for it any more: the last known policy stays in use.
    await cache.ready(hangs, ctx, later + 3 * POLICY_OUTDATED_MS + 1000);
    expect(cache.current?.inForce?.revision).toBe(4);
  });

  it("a clock that was set back makes it ask, and does not keep it from hearing", async () => {
    const cache = new PolicyCache();
    await cache.renew({ policyBundle: async () => bundle(3) }, T);
    const back = T - 600_000;
    expect([cache.due(back), cache.outdated(back)]).toEqual([true, true]);
    await cache.renew({ policyBundle: async () => bundle(4) }, back);
    expect(cache.current?.inForce?.revision).toBe(4);
    expect([cache.due(back + 1), cache.outdated(back + 1)]).toEqual([false, false]);
  });

  it("offers that an isolate made while it was cut off count when it hears of what is in force now", async () => {
    const cache = new PolicyCache();
    await cache.renew({ policyBundle: async () => bundle(3) }, T);
    const hours = T + 5 * 3_600_000;
    await cache.renew({ policyBundle: async () => bundle(4) }, hours);
    expect(cache.current?.inForce?.earlierOffersUntilMs).toBe(hours + POLICY_OUTDATED_MS + 300_000);
  });

  it("of two renewals at once, the second does not make that end earlier", async () => {
    const cache = new PolicyCache();
    await cache.renew({ policyBundle: async () => bundle(3) }, T);
    const hours = T + 5 * 3_600_000;
    const answers = [Promise.withResolvers<PolicyBundle>(), Promise.withResolvers<PolicyBundle>()];
    const renewals = answers.map(async ({ promise }) => cache.renew({ policyBundle: () => promise }, hours));
    for (const { resolve } of answers) resolve(bundle(4));
    await Promise.all(renewals);
    expect(cache.current?.inForce?.earlierOffersUntilMs).toBe(hours + POLICY_OUTDATED_MS + 300_000);
  });

  it("forgets a renewal whose request died: the next page waits for its own", async () => {
    const ctx = { waitUntil: () => undefined };
    const cache = new PolicyCache();
    await cache.renew({ policyBundle: async () => bundle(3) }, T);
    const later = T + POLICY_OUTDATED_MS;
    void cache.ready({ policyBundle: () => new Promise<never>(() => undefined) }, ctx, later);
    const answers = {
      policyBundle: async () => {
        for (let i = 0; i < 10; i++) await Promise.resolve();
        return bundle(4);
      },
    };
    await cache.ready(answers, ctx, later + 4_999);
    expect(cache.current?.inForce?.revision).toBe(3);
    await cache.ready(answers, ctx, later + 3_600_000);
    expect(cache.current?.inForce?.revision).toBe(4);
  });
});

describe("isolates of one data centre", () => {
  let centres = 0;
  const centre = (size: number) => {
    const name = `policies-${centres++}`;
    const isolates = Array.from(
      { length: size },
      () =>
        new PolicyCache(
          undefined,
          cacheNearby(() => caches.open(name)),
        ),
    );
    const stores = new FakeStores(mode("fixed-h2"));
    const page = async (
      isolate: number,
      nowMs: number,
      { site }: { site?: string } = { site: "https://site.test" },
    ) => {
      const ctx = createExecutionContext();
      await isolates[isolate]?.ready(stores, ctx, nowMs, site);
      await waitOnExecutionContext(ctx);
    };
    return { isolates, stores, page };
  };

  it("ask together, and what is in force is as old as the question", async () => {
    const { isolates, stores, page } = centre(3);
    for (const one of [0, 1, 2]) await page(one, T);
    // Without a policy one asks for itself.
    expect(stores.bundleCalls).toBe(3);
    const laterMs = T + POLICY_CACHE_MS + 1_000;
    await page(0, laterMs);
    await page(1, laterMs + 5_000);
    await page(2, laterMs + POLICY_CACHE_MS - 1);
    expect(stores.bundleCalls).toBe(4);
    expect(isolates.map((one) => one.due(laterMs + POLICY_CACHE_MS - 1))).toEqual([false, false, false]);
    expect(isolates.map((one) => one.due(laterMs + POLICY_CACHE_MS))).toEqual([true, true, true]);
    expect(isolates.map((one) => one.outdated(laterMs + POLICY_OUTDATED_MS))).toEqual([true, true, true]);
  });

  it.each([
    ["another revision is in force", POLICY_CACHE_MS + 2_000, undefined],
    ["the question is too old", 2 * POLICY_CACHE_MS + 1_000, undefined],
    ["the question comes from a clock that is ahead", POLICY_CACHE_MS + 999, undefined],
    ["nobody says whose visitors they are", POLICY_CACHE_MS + 2_000, {}],
  ])("ask the store themselves where %s", async (why, laterMs, whose) => {
    const { isolates, stores, page } = centre(2);
    for (const one of [0, 1]) await page(one, T);
    if (why.startsWith("another")) stores.bundle = bundle(5);
    await page(0, T + POLICY_CACHE_MS + 1_000);
    await page(1, T + laterMs, whose);
    expect(stores.bundleCalls).toBe(4);
    expect(isolates[1]?.storedRevision).toBe(why.startsWith("another") ? 5 : 3);
  });

  it("do not hear of a revision from an isolate that could not ask", async () => {
    const { isolates, stores, page } = centre(2);
    for (const one of [0, 1]) await page(one, T);
    stores.bundle = new Error("gone");
    await page(0, T + POLICY_CACHE_MS);
    await page(1, T + POLICY_CACHE_MS);
    expect(stores.bundleCalls).toBe(4);
    expect(isolates[1]?.outdated(T + POLICY_OUTDATED_MS)).toBe(true);
  });
});
