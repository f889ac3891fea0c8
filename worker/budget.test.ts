import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { bindings, freshStorage } from "../durable/testing.ts";
import { POLICY_CACHE_MS } from "../policy-api/decision/policy.ts";
import { adaptivePolicy } from "../policy-api/decision/testing.ts";
import { handleVisitor } from "./handler.ts";
import { Isolate } from "./isolate.ts";
import { RECENT_MS } from "./recent-clients.ts";
import { receiveSamples } from "./sample-listener.ts";
import { readSettings } from "./settings.ts";
import { durableStores, policyStore } from "./stores.ts";
import { CF_H2, counted, SETTINGS, VirtualTime } from "./testing.ts";

freshStorage();

const STEP_MS = 100;

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** How often a deployed isolate tells what it counted, milliseconds. */
const TELL_MS = readSettings({ EDGE: "adaptive-h3", ORIGIN: "http://origin.test" }).settings.flushCountsMs;

// The design: at most one look-up a client, isolate and minute, and none a subresource; at most one RPC per object, isolate and 10 s; a
// row is written at most every 10 s (a client's own with each RPC, as an alarm costs more).
it(
  "1,000 mixed requests and their connections' samples stay within the design's bounds",
  { timeout: 30_000 },
  async () => {
    const time = new VirtualTime();
    vi.stubGlobal("fetch", async () => new Response("page"));
    const store = policyStore(bindings);
    await store.create({ policy: adaptivePolicy(), author: "test", note: null });
    await store.change({ kind: "put", everyone: 1, stages: [] }, { author: "test", note: null, ifMatch: "*" });
    const { stores, counts, objects, answered } = counted(durableStores(bindings));
    // Several isolates tell the same objects: together they must still write a row at most every ten seconds.
    const settings = { ...SETTINGS, budgetMs: 1000, objectsPerRegion: 1, flushCountsMs: TELL_MS };
    const isolates = [0, 1, 2].map(() => new Isolate(settings));
    const ctx = createExecutionContext();
    const beganMs = Date.now();
    // Few clients, so that each isolate has news about each of them in each interval. Not a multiple of 5 or 3, so that
    // each client navigates through each isolate.
    const clients = 7;
    for (let i = 0; i < 1000; i++) {
      const address = `10.0.${i % clients}.1`;
      const kind = (["document", "image", "script", "empty", "document"] as const)[i % 5];
      const request = new Request("https://site.test/", {
        headers: { "sec-fetch-dest": kind ?? "", "cf-connecting-ip": address },
        cf: CF_H2 as never,
      });
      time.advance(STEP_MS);
      const isolate = isolates[i % isolates.length] as Isolate;
      const response = await handleVisitor(request, new URL(request.url), stores, ctx, isolate);
      expect(await response.text()).toBe("page");
      if (i % 10 === 0) {
        const sample = {
          clientAddress: address,
          transport: "tcp",
          connectionId: `c${i}`,
          atMs: Date.now(),
          closing: true,
        };
        const posted = new Request("http://internal/samples", {
          method: "POST",
          body: JSON.stringify({ samples: [{ ...sample, rttMs: 40, packetsSent: 700, packetsLost: 7 }] }),
        });
        await receiveSamples(posted, stores, ctx, isolate);
      }
      // What goes on behind the page: it begins its calls, and they end. Else the clock outruns them on a busy machine.
      await new Promise((resolve) => setTimeout(resolve, 0));
      await answered();
    }
    time.advance(10_000);
    await waitOnExecutionContext(ctx);
    const tookMs = Date.now() - beganMs;
    const intervals = Math.ceil(tookMs / 10_000) + 1;
    expect(intervals).toBe(12);

    // An isolate asks for a client once in a minute.
    expect(counts.lookUp).toBeGreaterThanOrEqual(isolates.length * clients);
    expect(counts.lookUp).toBeLessThanOrEqual(isolates.length * clients * Math.ceil(tookMs / RECENT_MS));
    expect(counts.policyBundle).toBeLessThanOrEqual(isolates.length * (Math.ceil(tookMs / POLICY_CACHE_MS) + 1));
    // It tells what it counted every 20 s.
    expect(counts.count).toBeGreaterThan(isolates.length);
    expect(counts.count).toBeLessThanOrEqual(isolates.length * (Math.ceil(tookMs / TELL_MS) + 1));
    expect(objects.size).toBe(1);
    expect(counts.record).toBeGreaterThan((isolates.length * intervals) / 2);
    expect(counts.record).toBeLessThanOrEqual(isolates.length * intervals);

    const written = { rows: 0, alarms: 0 };
    let rows = 0;
    for (const name of objects) {
      const stub = bindings.PATHS.get(bindings.PATHS.idFromName(name));
      const writes = await stub.writes();
      written.rows += writes.rows;
      written.alarms += writes.alarms;
      rows += await runInDurableObject(
        stub,
        (_, state) => state.storage.sql.exec("SELECT COUNT(*) AS n FROM paths").one()["n"] as number,
      );
    }
    expect(rows).toBe(clients);
    expect(written.rows).toBeGreaterThan(rows * (intervals / 2));
    expect(written.rows).toBeLessThanOrEqual(rows * intervals + rows);
    expect(written.alarms).toBeLessThanOrEqual(counts.record);
  },
);
