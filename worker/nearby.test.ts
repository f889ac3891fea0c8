import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Policy } from "../policy-api/decision/policy.ts";
import { adaptivePolicy, offersHeld } from "../policy-api/decision/testing.ts";
import { handleVisitor } from "./handler.ts";
import { Isolate } from "./isolate.ts";
import { cacheNearby, type Nearby } from "./nearby.ts";
import { SHARED_MS, type Shared } from "./recent-clients.ts";
import { NO_NEWS } from "./news.ts";
import { CF_H2, FakeStores, navigation, PAGE_HEADERS, SETTINGS } from "./testing.ts";

const SITE = "https://site.test";
const SHARED: Shared = {
  askedAtMs: 1_000,
  remembered: { offers: offersHeld({ untilMs: 5, answeredAtMs: 1, offering: true }) },
  news: NO_NEWS,
};

let opened = 0;
/** A data centre: its caches are those of all who open this one. */
function dataCentre(): () => Nearby {
  const name = `nearby-${opened++}`;
  return () => cacheNearby(() => caches.open(name));
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("what isolates of a data centre share", () => {
  it("is found by another one, under its site and client", async () => {
    const open = dataCentre();
    await open().keep(SITE, "a+/", SHARED, 1_000);
    expect(await open().find(SITE, "a+/")).toEqual(SHARED);
    expect(await open().find(SITE, "a")).toBeUndefined();
    expect(await open().find("https://other.test", "a+/")).toBeUndefined();
    expect(await dataCentre()().find(SITE, "a+/")).toBeUndefined();
  });

  it("is the newest of what was kept", async () => {
    const nearby = dataCentre()();
    await nearby.keep(SITE, "a", SHARED, 1_000);
    const newer = { ...SHARED, askedAtMs: 2_000 };
    await nearby.keep(SITE, "a", newer, 2_000);
    expect(await nearby.find(SITE, "a")).toEqual(newer);
  });

  it("is not kept when its three minutes are over", async () => {
    const nearby = dataCentre()();
    await nearby.keep(SITE, "a", SHARED, 1_000 + SHARED_MS);
    expect(await nearby.find(SITE, "a")).toBeUndefined();
  });

  it("is what is in force on a site", async () => {
    const open = dataCentre();
    await open().keepRevision(SITE, { revision: 3, askedAtMs: 1_000 });
    expect(await open().findRevision(SITE)).toEqual({ revision: 3, askedAtMs: 1_000 });
    expect(await open().findRevision("https://other.test")).toBeUndefined();
  });

  it.each<[string, () => Promise<Cache>]>([
    ["there is no cache", async () => Promise.reject(new Error("no cache here"))],
    ["the cache does not answer", async () => new Promise(() => undefined)],
    ["what is kept is not JSON", async () => ({ match: async () => new Response("<") }) as never],
  ])("is nothing where %s", async (_name, open) => {
    expect(await cacheNearby(open).find(SITE, "a")).toBeUndefined();
  });

  it("is lost where the cache takes nothing", async () => {
    await expect(
      cacheNearby(async () => Promise.reject(new Error("full"))).keep(SITE, "a", SHARED, 1_000),
    ).resolves.toBe(undefined);
  });
});

describe("the pages of a visit, each at another isolate", () => {
  const visit = async (policy: Policy, nearby: () => Nearby | undefined, pages = 3) => {
    vi.stubGlobal("fetch", async () => new Response("page", { headers: PAGE_HEADERS }));
    const stores = new FakeStores(policy);
    const says: (string | null)[] = [];
    for (let page = 0; page < pages; page++) {
      const ctx = createExecutionContext();
      const isolate = new Isolate({ ...SETTINGS, budgetMs: 1_000, announceDecisions: true }, nearby());
      const request = navigation(CF_H2);
      const response = await handleVisitor(request, new URL(request.url), stores, ctx, isolate);
      says.push(response.headers.get("server-timing"));
      await waitOnExecutionContext(ctx);
    }
    return { says, lookUps: stores.lookUps.length };
  };

  it("need one look-up, and are answered as with one for each", async () => {
    const near = await visit(adaptivePolicy(), dataCentre());
    const alone = await visit(adaptivePolicy(), () => undefined);
    expect(near.lookUps).toBe(1);
    expect(alone.lookUps).toBe(3);
    expect(near.says[0]).toMatch(/^h3-why;desc="/);
    expect(near.says).toEqual(alone.says);
  });

  it("need one each if their client is drawn: no arm may be known better", async () => {
    const drawn = adaptivePolicy({ exploration: { share: 1 } });
    expect((await visit(drawn, dataCentre())).lookUps).toBe(3);
  });

  it("need one each where the cache is broken", async () => {
    const broken = (): Nearby => cacheNearby(async () => Promise.reject(new Error("no cache here")));
    expect((await visit(adaptivePolicy(), broken)).lookUps).toBe(3);
  });
});
