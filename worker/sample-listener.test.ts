import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import cfVectors from "../infra/edge/testdata/cf.json" with { type: "json" };
import sampleVectors from "../infra/edge/testdata/path-samples.json" with { type: "json" };
import { parse } from "../policy-api/decision/parse.ts";
import { connectionFacts } from "./cf.ts";
import { Isolate } from "./isolate.ts";
import { readPostedSample, receiveSamples } from "./sample-listener.ts";
import { FakeStores, mode, SETTINGS } from "./testing.ts";

const SAMPLE = { clientAddress: "192.0.2.7", transport: "tcp", connectionId: "a", atMs: 1, closing: true };

async function post(
  body: unknown,
  stores = new FakeStores(mode("observe")),
): Promise<{ status: number; json: unknown; stores: FakeStores }> {
  const ctx = createExecutionContext();
  const request = new Request("http://internal/samples", {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const response = await receiveSamples(request, stores, ctx, new Isolate(SETTINGS));
  await waitOnExecutionContext(ctx);
  const text = await response.text();
  return { status: response.status, json: text.startsWith("{") ? JSON.parse(text) : text, stores };
}

describe("receiveSamples", () => {
  it.each([
    ["malformed", "{", new FakeStores(mode("observe"))],
    ["malformed", { samples: 3 }, new FakeStores(mode("observe"))],
    ["unready", { samples: [SAMPLE] }, Object.assign(new FakeStores(mode("observe")), { bundle: new Error("gone") })],
  ])("counts a batch that it refuses: %s", async (cause, body, stores) => {
    await post(body, stores);
    expect(stores.flushed.map(({ counted }) => counted)).toEqual([{ [`batches_refused|${cause}`]: 1 }]);
  });

  it("counts readings, those that it cannot read too", async () => {
    const { stores } = await post({ samples: [SAMPLE, 7, SAMPLE] });
    expect(stores.flushed.map(({ counted }) => counted)).toEqual([{ "samples|taken": 2, "samples|faulty": 1 }]);
  });

  it("hashes addresses and tells the object, gathered", async () => {
    const { status, json, stores } = await post({
      samples: [
        SAMPLE,
        { ...SAMPLE, atMs: 2 },
        { ...SAMPLE, clientAddress: "::ffff:192.0.2.7", connectionId: "b", atMs: 3 },
      ],
    });
    expect([status, json]).toEqual([200, { accepted: 3, faults: [] }]);
    expect(stores.records).toHaveLength(1);
    expect(stores.records[0]).toMatchObject([{ samples: [{ atMs: 2 }, { atMs: 3 }] }]);
    expect(JSON.stringify(stores.records)).not.toContain("192.0.2");
    expect(stores.lookUps).toEqual([]);
  });

  it("leaves out what cannot be read, names it, and takes the rest", async () => {
    const { json, stores } = await post({
      samples: [SAMPLE, { ...SAMPLE, clientAddress: "here" }, 7, { ...SAMPLE, rttMs: -1, extra: 1 }],
    });
    expect(json).toMatchObject({ accepted: 1 });
    expect((json as { faults: { pointer: string }[] }).faults.map((fault) => fault.pointer)).toEqual([
      "/samples/1/clientAddress",
      "/samples/2",
      "/samples/3/extra",
      "/samples/3/rttMs",
    ]);
    expect(stores.records[0]).toHaveLength(1);
  });

  it("takes all that a sample says", async () => {
    const full = { rttMs: 12.5, minRttMs: 10, packetsSent: 700, packetsLost: 7, bytesSent: 1e6, busyMs: 90.5 };
    const { stores } = await post({ samples: [{ ...SAMPLE, ...full, deliveryRateBps: 5e6 }] });
    const { clientAddress: _, ...rest } = SAMPLE;
    expect(stores.records[0]?.[0]?.samples).toEqual([{ ...rest, ...full, deliveryRateBps: 5e6 }]);
  });

  it("a clock that runs ahead is set back to now", async () => {
    const { stores } = await post({ samples: [{ ...SAMPLE, atMs: Date.now() + 1e9 }] });
    expect(stores.records[0]?.[0]?.samples[0]?.atMs).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ["no JSON", "{", 400],
    ["no list", { samples: 1 }, 400],
    ["another field", { samples: [], more: 1 }, 400],
    ["too many", { samples: Array.from({ length: 1001 }, () => SAMPLE) }, 400],
  ])("refuses %s", async (_name, body, status) => {
    expect((await post(body)).status).toBe(status);
  });

  it("says so when the store is gone", async () => {
    const stores = new FakeStores(mode("observe"));
    stores.bundle = new Error("gone");
    expect((await post({ samples: [SAMPLE] }, stores)).status).toBe(503);
  });

  it("answers a heartbeat, with the store gone too", async () => {
    const ctx = createExecutionContext();
    const stores = new FakeStores(mode("observe"));
    const response = await receiveSamples(new Request("http://internal/heartbeat"), stores, ctx, new Isolate(SETTINGS));
    expect([response.status, stores.lookUps, stores.records]).toEqual([204, [], []]);
    expect([...response.headers]).toEqual([]);
  });

  it("serves nothing else", async () => {
    const ctx = createExecutionContext();
    for (const request of [
      new Request("http://internal/samples"),
      new Request("http://internal/", { method: "POST", body: "{}" }),
    ])
      expect((await receiveSamples(request, new FakeStores(undefined), ctx, new Isolate(SETTINGS))).status).toBe(404);
  });
});

describe("what the edge writes is what is read here", () => {
  it.each(sampleVectors)("sample: $name", ({ json }) => {
    expect(parse(readPostedSample, json)).toEqual({ ok: true, value: json });
  });

  it.each(cfVectors)("request.cf: $name", ({ json }) => {
    const connection = connectionFacts(json, { edge: "adaptive-h3" }, 5);
    expect(connection).toMatchObject({ addressTrusted: true, edgePostsSamples: true, httpProtocol: json.httpProtocol });
    expect(connection.facts.transport).toBe(json.adaptiveH3.transport);
    const own = json.adaptiveH3 as { rttMs?: number; firstRttMs?: number; minRttMs?: number; busyMs?: number };
    const { rttMs, firstRttMs, minRttMs, busyMs } = own;
    expect(connection.sample?.rttMs).toBe(rttMs);
    expect([connection.facts.rttMs, connection.facts.minRttMs]).toEqual([firstRttMs, minRttMs]);
    expect(connection.sample?.busyMs).toBe(rttMs === undefined ? undefined : busyMs);
  });

  it.each([
    ["the first one", { firstRttMs: 38, minRttMs: 30 }, 38, 30],
    ["the smallest one, of an edge that tells no other", { minRttMs: 30 }, 30, 30],
    ["the smoothed one", {}, 40, undefined],
  ])("request.cf: the RTT that decides is %s", (_name, own, rttMs, minRttMs) => {
    const cf = { httpProtocol: "HTTP/2", clientTcpRtt: 40, adaptiveH3: { connectionId: "c1", ...own } };
    expect(connectionFacts(cf, { edge: "adaptive-h3" }, 5).facts).toMatchObject({ rttMs, minRttMs });
  });

  it("request.cf: how long responses were under way", () => {
    const own = { connectionId: "c1", packetsSent: 9, busyMs: 12 };
    const cf = { httpProtocol: "HTTP/2", clientTcpRtt: 40, adaptiveH3: own };
    expect(connectionFacts(cf, { edge: "adaptive-h3" }, 5).sample).toMatchObject({ busyMs: 12, packetsSent: 9 });
    const strange = { ...cf, adaptiveH3: { ...own, busyMs: -1 } };
    expect(connectionFacts(strange, { edge: "adaptive-h3" }, 5).sample?.busyMs).toBeUndefined();
  });
});
