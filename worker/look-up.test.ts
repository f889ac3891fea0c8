import { describe, expect, it } from "vitest";
import { adaptivePolicy } from "../policy-api/core/testing.ts";
import { Isolate } from "./isolate.ts";
import { CF_H2, CF_H3, FakeStores, mode, navigation, never, SETTINGS, stubOrigin, visit } from "./testing.ts";

stubOrigin();

describe("who is believed", () => {
  const lookUpsFor = async (edge: (typeof SETTINGS)["edge"], cf: unknown): Promise<number> => {
    const stores = new FakeStores(adaptivePolicy());
    await visit(navigation(cf), stores, new Isolate({ ...SETTINGS, edge }));
    return stores.lookUps.length;
  };
  const cloudflare = { httpProtocol: "HTTP/2", clientTcpRtt: 40, colo: "NRT" };

  it.each([
    ["our edge, where it stands", "adaptive-h3", CF_H2, 1],
    ["a visitor who reached workerd without our edge's object", "adaptive-h3", cloudflare, 0],
    ["Cloudflare, on its network", "cloudflare", cloudflare, 1],
    ["our edge's object on Cloudflare, where nobody sets it", "cloudflare", CF_H2, 0],
    ["nobody", "none", { ...cloudflare, ...CF_H2 }, 0],
  ] as const)("%s", async (_name, edge, cf, expected) => {
    expect(await lookUpsFor(edge, cf)).toBe(expected);
  });

  it("no address that is none", async () => {
    const stores = new FakeStores(adaptivePolicy());
    await visit(navigation(CF_H2, { "cf-connecting-ip": "192.0.2.7, 10.0.0.1" }), stores);
    expect(stores.lookUps).toEqual([]);
  });

  it("and no address is ever passed on", async () => {
    const stores = new FakeStores(adaptivePolicy());
    const { settled } = await visit(navigation(cloudflare), stores, new Isolate({ ...SETTINGS, edge: "cloudflare" }));
    await settled;
    expect(stores.records).toHaveLength(1);
    expect(JSON.stringify([stores.lookUps, stores.records])).not.toContain("192.0.2");
  });
});

describe("what is remembered of a visit", () => {
  it("what this connection showed, so that the next visit over another does not begin cold", async () => {
    const stores = new FakeStores(adaptivePolicy());
    stores.taken = never;
    const isolate = new Isolate(SETTINGS);
    const shown = { ...CF_H3, adaptiveH3: { ...CF_H2.adaptiveH3, packetsSent: 5000 } };
    expect((await visit(navigation(shown), stores, isolate)).response.headers.get("alt-svc")).toBe("clear");
    const another = { ...CF_H2, adaptiveH3: { ...CF_H2.adaptiveH3, connectionId: "c2" } };
    expect((await visit(navigation(another), stores, isolate)).response.headers.get("alt-svc")).toBeNull();
  });

  it("of a connection that showed nothing yet only the answer: our edge posts its samples", async () => {
    const stores = new FakeStores(adaptivePolicy());
    const { settled } = await visit(navigation(), stores);
    await settled;
    expect(stores.records).toMatchObject([[{ samples: [], answers: [{ offerUntilMs: expect.any(Number) }] }]]);
  });

  it("on Cloudflare the reading that came with the request, in observe too", async () => {
    const stores = new FakeStores(mode("observe"));
    const cf = { httpProtocol: "HTTP/2", clientTcpRtt: 40, colo: "NRT", continent: "AS", longitude: "139.7" };
    const { settled } = await visit(navigation(cf), stores, new Isolate({ ...SETTINGS, edge: "cloudflare" }));
    await settled;
    expect(stores.records).toMatchObject([[{ samples: [{ transport: "tcp", rttMs: 40 }], answers: [] }]]);
    expect(stores.lookUps).toEqual([]);
  });
});
