import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addSample } from "../decision/connections.ts";
import type { Remembered } from "../decision/history.ts";
import { NOON_MS, offersHeld, sample } from "../decision/testing.ts";
import { callApi, type CallOptions, faultsOf, type TestPorts, testPorts, TOKENS } from "./testing.ts";

let ports: TestPorts;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON_MS });
  ports = await testPorts();
});
afterEach(() => {
  vi.useRealTimers();
});

const address = "192.0.2.7";
const call = (resource: string, options: CallOptions = {}) =>
  callApi(ports, "POST", resource, { body: { address }, token: TOKENS.read, ...options });
const tcp = sample({
  rttMs: 35,
  minRttMs: 30,
  packetsSent: 1000,
  packetsLost: 10,
  bytesSent: 1.4e6,
  deliveryRateBps: 1e6,
});
const quic = sample({ transport: "quic", connectionId: "q", rttMs: 40, packetsSent: 500, closing: true });
const client = { connections: [tcp, quic].reduce(addSample, []) };
const offers = offersHeld({ untilMs: NOON_MS + 5000, answeredAtMs: NOON_MS, offering: true, ignoredAtMs: [NOON_MS] });

describe("what is known", () => {
  it("of a client, as it would be used now", async () => {
    ports.clients.known.set(address, { client, offers });
    const nowMs = NOON_MS + 60_000;
    vi.setSystemTime(nowMs);
    expect((await call("clients/look-up")).json).toEqual({
      known: true,
      connections: [
        { transport: "quic", ageMs: 60_000, packets: 500, lost: 0, rttMs: 40 },
        { transport: "tcp", ageMs: 60_000, packets: 1000, lost: 10, rttMs: 30, bytes: 1.4e6, deliveryRateBps: 1e6 },
      ],
      offers,
    });
    expect(ports.clients.calls).toEqual([`look up ${address}`]);
  });

  it.each<[string, Remembered, object]>([
    ["nothing", {}, { known: false }],
    ["of offers alone", { offers }, { known: true, offers }],
    ["what tells nothing", { client: { connections: [] } }, { known: false }],
  ])("%s", async (_name, known, ofClient) => {
    ports.clients.known.set(address, known);
    expect((await call("clients/look-up")).json).toEqual(ofClient);
  });

  it("is not written into the audit, nor is the address anywhere", async () => {
    await call("clients/look-up");
    await call("clients/forget", { token: TOKENS.write });
    const audit = await callApi(ports, "GET", "audit");
    expect(audit.text).not.toContain(address);
    expect((audit.json["entries"] as { action: string }[])[0]?.action).toBe("client.forget");
  });
});

describe("forgetting", () => {
  it("a client: how many rows, and who did it", async () => {
    ports.clients.known.set(address, { client });
    const forgotten = async () => (await call("clients/forget", { token: TOKENS.write })).json;
    expect(await forgotten()).toEqual({ forgotten: 1 });
    expect(await forgotten()).toEqual({ forgotten: 0 });
    expect(ports.clients.calls).toEqual([`forget ${address}`, `forget ${address}`]);
    expect((await ports.store.audit({ limit: 2 })).items).toMatchObject([
      { actor: "ann", action: "client.forget", version: null, revision: null, activation: null, note: null },
      { actor: "ann", action: "client.forget" },
    ]);
    expect(ports.changes).toBe(0);
  });
});

describe("an address", () => {
  const resources = ["clients/look-up", "clients/forget"];
  it.each(["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7", "2001:DB8:0:0:0:0:0:1", "::"])(
    "%s is one",
    async (given) => {
      for (const resource of resources)
        expect((await call(resource, { body: { address: given }, token: TOKENS.write })).status).toBe(200);
    },
  );

  it.each<[object, string]>([
    [{}, "/address: must be an IPv4 or IPv6 address"],
    [{ address: null }, "/address: must be an IPv4 or IPv6 address"],
    [{ address: 3_221_225_991 }, "/address: must be an IPv4 or IPv6 address"],
    [{ address: "" }, "/address: must be an IPv4 or IPv6 address"],
    [{ address: "192.0.2" }, "/address: must be an IPv4 or IPv6 address"],
    [{ address: "192.0.2.7/24" }, "/address: must be an IPv4 or IPv6 address"],
    [{ address: "192.0.2.7, 10.0.0.1" }, "/address: must be an IPv4 or IPv6 address"],
    [{ address: "example.com" }, "/address: must be an IPv4 or IPv6 address"],
    [{ address: "fe80::1%eth0" }, "/address: must be an IPv4 or IPv6 address"],
    [{ adress: "192.0.2.7", address: "192.0.2.7" }, "/adress: is not known here: address?"],
  ])("%j is none", async (body, fault) => {
    for (const resource of resources) {
      const reply = await call(resource, { body, token: TOKENS.write });
      expect([resource, reply.status, faultsOf(reply)]).toEqual([resource, 400, [fault]]);
    }
    expect(ports.clients.calls).toEqual([]);
  });

  it("that whoever keeps them takes for none is none", async () => {
    ports.clients.lookUp = async () => undefined;
    ports.clients.forget = async () => undefined;
    for (const resource of resources) {
      const reply = await call(resource, { token: TOKENS.write });
      expect([reply.status, faultsOf(reply)]).toEqual([400, ["/address: must be an IPv4 or IPv6 address"]]);
    }
    expect((await ports.store.audit({ limit: 1 })).items[0]?.action).toBe("activation.put");
  });
});

describe("the audit", () => {
  it("tells who did what when, newest first, in pages", async () => {
    vi.setSystemTime(NOON_MS + 1000);
    await callApi(ports, "PUT", "activation/kill-switch", { body: { kind: "clear", note: "incident" }, ifMatch: "*" });
    await call("clients/forget", { token: TOKENS.write });
    const page = async (query: string) => (await callApi(ports, "GET", `audit${query}`, { token: TOKENS.read })).json;
    const at = new Date(NOON_MS + 1000).toISOString();
    const entries = [
      {
        id: 4,
        at,
        actor: "ann",
        action: "client.forget",
        version: null,
        revision: null,
        activation: null,
        note: null,
      },
      {
        id: 3,
        at,
        actor: "ann",
        action: "kill-switch.on",
        version: null,
        revision: 2,
        activation: { everyone: 1, stages: [], killSwitch: "clear" },
        note: "incident",
      },
    ];
    expect(await page("?limit=2")).toEqual({ entries, next: 3 });
    expect(await page("?limit=2&before=3")).toMatchObject({
      entries: [
        { id: 2, action: "activation.put", version: null, revision: 1, activation: { everyone: 1 }, actor: "setup" },
        { id: 1, action: "policy.create", version: 1, revision: null },
      ],
      next: null,
    });
    expect(await page("?before=1")).toEqual({ entries: [], next: null });
  });

  it("has nothing of what was only asked", async () => {
    const before = await ports.store.audit({ limit: 100 });
    await call("clients/look-up");
    await call("decisions", { body: { paths: [{ transport: "tcp", clientAddress: address }] } });
    await call("decisions/explain", { body: { client: address } });
    expect(await ports.store.audit({ limit: 100 })).toEqual(before);
  });
});
