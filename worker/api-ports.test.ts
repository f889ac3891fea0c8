import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bindings, freshStorage } from "../durable/testing.ts";
import type { PolicyBundle } from "../durable/policy-store.ts";
import { periodAt } from "../policy-api/decision/assignment.ts";
import { POLICY_CACHE_MS, POLICY_OUTDATED_MS, type Policy } from "../policy-api/decision/policy.ts";
import { adaptivePolicy, sample } from "../policy-api/decision/testing.ts";
import type { PolicyApiPorts } from "../policy-api/api/ports.ts";
import { drawnRows } from "../policy-api/visitors/testing-rows.ts";
import { CALLS, callApi, testTokens, TOKENS } from "../policy-api/api/testing.ts";
import { clientAddress } from "./address.ts";
import { apiPorts } from "./api-ports.ts";
import { Isolate } from "./isolate.ts";
import { Hasher } from "./hasher.ts";
import type { Region } from "./region.ts";
import type { Settings } from "./settings.ts";
import { durableStores, pathObject, pathStore, policyStore } from "./stores.ts";
import { CF_H2, mode, navigation, SETTINGS, stubOrigin, visit } from "./testing.ts";

freshStorage();
stubOrigin();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

const stores = durableStores(bindings);
let ctx: ExecutionContext;
beforeEach(() => {
  ctx = createExecutionContext();
});
function mounted(over: Partial<Settings> = {}, isolate = new Isolate({ ...SETTINGS, ...over })): PolicyApiPorts {
  return apiPorts(bindings, { isolate, stores, settingsFaults: [] }, ctx);
}

const store = () => policyStore(bindings);
const by = { author: "setup", note: null, ifMatch: "*" as const };
async function activate(
  policy: Policy,
  ...stages: { policy: Policy; share: number; pathPrefix?: string }[]
): Promise<void> {
  const versionOf = async (one: Policy): Promise<number> => {
    const created = await store().create({ policy: one, author: "setup", note: null });
    return created.kind === "created" ? created.version.version : -1;
  };
  const everyone = await versionOf(policy);
  const staged = [];
  for (const { policy: one, ...stage } of stages) staged.push({ ...stage, version: await versionOf(one) });
  await store().change({ kind: "put", everyone, stages: staged }, by);
}
const hashKey = async (): Promise<ArrayBuffer> => ((await store().bundle()) as PolicyBundle).hashKey;
const addressOf = (text: string) => clientAddress(text) ?? { client: "", network: "" };

describe("where a call comes from", () => {
  it.each([
    ["cloudflare", "192.0.2.7", "192.0.2.7"],
    ["cloudflare", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"],
    ["cloudflare", "192.0.2.7, 10.0.0.1", undefined],
    ["cloudflare", undefined, undefined],
    ["adaptive-h3", "192.0.2.7", "192.0.2.7"],
    ["adaptive-h3", "localhost", undefined],
    // Without an edge, only the caller can have set it.
    ["none", "192.0.2.7", undefined],
  ] as const)("at the edge %s, with the header %s: %s", (edge, header, address) => {
    const request = new Request(
      "https://site.test/",
      header === undefined ? {} : { headers: { "cf-connecting-ip": header } },
    );
    expect(mounted({ edge }).callerAddress(request)).toBe(address);
  });
});

describe("the stack that serves", () => {
  const stack = { tcp: "bbr", quic: "quic-go" };
  it.each([
    ["as our edge names it", "adaptive-h3", { adaptiveH3: { stack } }, stack],
    ["without HTTP/3", "adaptive-h3", { adaptiveH3: { stack: { tcp: "cubic" } } }, { tcp: "cubic", quic: null }],
    ["by an edge that names none", "adaptive-h3", CF_H2, null],
    ["where the kernel did not say", "adaptive-h3", { adaptiveH3: { stack: { tcp: "", quic: "quic-go" } } }, null],
    ["of another type", "adaptive-h3", { adaptiveH3: { stack: { tcp: 3 } } }, null],
    ["past the edge", "adaptive-h3", undefined, null],
    ["on Cloudflare, which names none", "cloudflare", { colo: "NRT" }, null],
    ["by a cf that is not our edge's", "cloudflare", { adaptiveH3: { stack } }, null],
    ["without an edge", "none", { adaptiveH3: { stack } }, null],
  ] as const)("%s", (_name, edge, cf, expected) => {
    const request = new Request("https://site.test/_h3/v1/health", { cf: cf as never });
    expect(mounted({ edge }).servingStack(request)).toEqual(expected);
  });
});

describe("what is in force here", () => {
  const revision = async (ports: PolicyApiPorts) => (await ports.inForce())?.revision;

  it("is what was asked for within the last 15 s, then renewed behind a call, and from 30 s on before it", async () => {
    const ports = mounted();
    expect(await revision(ports)).toBe(0);
    await activate(mode("fixed-h2"));
    later(POLICY_CACHE_MS - 1);
    expect(await revision(ports)).toBe(0);
    later(1);
    expect(await revision(ports)).toBe(0);
    await waitOnExecutionContext(ctx);
    expect(await revision(ports)).toBe(1);
    await activate(mode("fixed-h3"));
    later(POLICY_OUTDATED_MS);
    expect(await revision(ports)).toBe(2);
  });

  it("is what was just changed here, at once", async () => {
    const ports = mounted();
    expect(await revision(ports)).toBe(0);
    await activate(mode("fixed-h2"));
    await ports.changed();
    expect(await revision(ports)).toBe(1);
  });

  it("is nothing once the store has not answered for 30 s, but for a kill switch", async () => {
    const isolate = new Isolate(SETTINGS);
    await activate(mode("fixed-h3"));
    await isolate.policyCache.renew(stores, Date.now());
    const gone = { ...stores, policyBundle: async () => Promise.reject(new Error("gone")) };
    const ports = apiPorts(bindings, { isolate, stores: gone, settingsFaults: [] }, ctx);
    later(POLICY_OUTDATED_MS - 1);
    expect(await revision(ports)).toBe(1);
    later(1);
    expect(await ports.inForce()).toBeUndefined();
    ports.unstoredKill.hold("clear", "ann", null);
    expect((await ports.inForce())?.killSwitch).toBe("clear");
  });

  it("is nothing in an isolate that the store has never answered", async () => {
    const gone = { ...stores, policyBundle: async () => Promise.reject(new Error("gone")) };
    const ports = apiPorts(bindings, { isolate: new Isolate(SETTINGS), stores: gone, settingsFaults: [] }, ctx);
    expect(await ports.inForce()).toBeUndefined();
    await ports.changed();
    for (const resource of ["clients/look-up", "clients/forget"] as const) {
      const asked =
        resource === "clients/look-up" ? ports.clients.lookUp("192.0.2.7") : ports.clients.forget("192.0.2.7");
      await expect(asked, resource).rejects.toThrow("does not answer");
    }
    await expect(ports.clients.units("192.0.2.7", 0)).rejects.toThrow("does not answer");
  });
});

describe("a kill switch that the store could not take", () => {
  it("is not stored again once the operator has stored it elsewhere and turned it off", async () => {
    await activate(mode("fixed-h3"));
    const isolate = new Isolate(SETTINGS);
    const ports = mounted({}, isolate);
    await ports.inForce();
    ports.unstoredKill.hold("clear", "ann", null);
    // Through another isolate, which the store answers.
    for (const to of ["clear", null] as const) {
      later(1_000);
      await store().change({ kind: "kill-switch", to }, { ...by, author: "ann" });
    }
    later(5_000);
    await isolate.retryKill(stores, Date.now());
    expect(isolate.kill.unstored).toBeUndefined();
    const { items } = await store().audit({ limit: 10 });
    expect(items.map(({ action }) => action)).toEqual([
      "kill-switch.off",
      "kill-switch.on",
      "activation.put",
      "policy.create",
    ]);
    expect((await ports.inForce())?.killSwitch).toBeNull();
  });
});

describe("what is known of clients", () => {
  const address = "192.0.2.7";
  /** Leaves a sample of a client with the object of its region. */
  async function met(region: Region, text: string, objects: number): Promise<void> {
    const hasher = new Hasher(await hashKey());
    const { keys, object } = hasher.named(addressOf(text), objects);
    const report = {
      ...keys,
      samples: [sample({ atMs: Date.now(), rttMs: 40, packetsSent: 500, packetsLost: 5 })],
      answers: [],
    };
    await stores.record(pathObject(region, object), [report]);
  }

  it.each([
    ["adaptive-h3", "local"],
    ["none", "local"],
    ["cloudflare", "apac"],
    ["cloudflare", "weur"],
    ["cloudflare", "local"],
  ] as const)("at the edge %s is found, wherever it was met: %s", async (edge, region) => {
    await met(region, address, SETTINGS.objectsPerRegion);
    const { clients } = mounted({ edge });
    expect(await clients.lookUp(address)).toMatchObject({
      client: { connections: [{ transport: "tcp", packetsSent: 500, packetsLost: 5, rttMs: 40 }] },
      offers: {},
    });
    for (const other of ["192.0.2.8", "203.0.113.1"]) expect(await clients.lookUp(other)).toEqual({});
  });

  it("is that of the place where it was met last", async () => {
    const last = async () =>
      (await mounted({ edge: "cloudflare" }).clients.lookUp(address))?.client?.connections[0]?.atMs;
    for (const region of ["weur", "wnam", "weur"] as const) {
      later(1_000);
      await met(region, address, SETTINGS.objectsPerRegion);
      expect(await last()).toBe(Date.now());
    }
  });

  it("is forgotten in every place: how many rows that were", async () => {
    for (const region of ["wnam", "weur"] as const) await met(region, address, SETTINGS.objectsPerRegion);
    const { clients } = mounted({ edge: "cloudflare" });
    expect(await clients.forget(address)).toBe(2);
    expect(await clients.forget(address)).toBe(0);
    expect(await clients.lookUp(address)).toEqual({});
  });

  it("of what is no address is not asked for", async () => {
    const { clients } = mounted();
    for (const text of ["", "localhost", "192.0.2"])
      expect([await clients.lookUp(text), await clients.forget(text), await clients.units(text, 0)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    expect(await pathStore(bindings, pathObject("local", 0)).writes()).toEqual({ rows: 0, alarms: 0 });
  });

  it("its units are those that the worker draws", async () => {
    const hasher = new Hasher(await hashKey());
    const nowMs = Date.now();
    expect(await mounted().clients.units("2001:db8::7", nowMs)).toEqual({
      activation: hasher.unit("activation", addressOf("2001:db8::1")),
      share: hasher.unit("share", addressOf("2001:db8::1")),
      exploration: hasher.unit("exploration", addressOf("2001:db8::1"), periodAt(nowMs)),
    });
  });
});

describe("what visitors' pages reported", () => {
  const rows = drawnRows(3, [{ rttMs: 20, clients: 5, saves: 0, overH3: 0, asn: 64_496 }]);
  /** The ports over objects that answer so, by name. */
  const over = (answer: (name: string) => Promise<unknown>, settings: Partial<Settings>) => {
    const PATHS = {
      idFromName: (name: string) => name,
      get: (name: string) => ({ outcomes: async () => answer(name) }),
    } as unknown as (typeof bindings)["PATHS"];
    const isolate = new Isolate({ ...SETTINGS, ...settings });
    return apiPorts({ ...bindings, PATHS }, { isolate, stores, settingsFaults: [] }, ctx).outcomes;
  };

  it("is asked of every object of every region, and merged", async () => {
    const asked: string[] = [];
    const { gathered, objects } = await over(
      async (name) => {
        asked.push(name);
        return name === "weur:1" || name === "oc:0" ? rows : [];
      },
      { edge: "cloudflare", objectsPerRegion: 2 },
    ).outcomes(3);
    expect(objects).toEqual({ asked: 20, answered: 20 });
    expect(new Set(asked).size).toBe(20);
    expect(asked).toEqual(expect.arrayContaining(["wnam:0", "local:1"]));
    const { offered, withheld } = gathered.of("all");
    expect([offered, withheld].map(({ sums }) => sums.assigned.clients)).toEqual([10n, 10n]);
  });

  it.each([
    [32, 320, 320],
    [1_000, 10_000, 9_000],
  ])(
    "with %i objects in each region, is asked of few at a time, and of no more than a request may ask",
    async (objectsPerRegion, asked, answered) => {
      let [open, most, calls] = [0, 0, 0];
      const { objects } = await over(
        async () => {
          calls++;
          most = Math.max(most, ++open);
          await Promise.resolve();
          open--;
          return [];
        },
        { edge: "cloudflare", objectsPerRegion },
      ).outcomes(3);
      expect(objects).toEqual({ asked, answered });
      expect([calls, most <= 50]).toEqual([answered, true]);
    },
  );

  it("leaves out objects that fail, or do not answer in time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const answers: Record<string, () => Promise<unknown>> = {
      "local:0": async () => Promise.reject(new Error("gone")),
      "local:1": async () => new Promise(() => undefined),
    };
    const asking = over(async (name) => (answers[name] ?? (async () => rows))(), {
      edge: "adaptive-h3",
      objectsPerRegion: 3,
    }).outcomes(3);
    await vi.advanceTimersByTimeAsync(5_000);
    const { gathered, objects } = await asking;
    expect(objects).toEqual({ asked: 3, answered: 1 });
    expect(gathered.of("all").offered.sums.assigned.clients).toBe(5n);
  });
});

it("a decision of the API is the answer that the visitor gets, client by client", async () => {
  await activate(
    adaptivePolicy({ method: { kind: "share", share: 0.5 }, exploration: { share: 0.4 } }),
    { policy: mode("fixed-h3"), share: 0.3 },
    { policy: mode("fixed-h2"), share: 1, pathPrefix: "/live/" },
  );
  const isolate = new Isolate({ ...SETTINGS, tokens: await testTokens(), budgetMs: 1000 });
  const addresses = Array.from({ length: 80 }, (_, i) => `198.51.100.${i}`);
  const paths = addresses.map((clientAddressText, i) => ({
    transport: "tcp",
    rttMs: 40,
    path: i % 4 === 0 ? "/live/1" : "/page",
    clientAddress: clientAddressText,
  }));
  const reply = await callApi(mounted({}, isolate), "POST", "decisions", {
    body: { paths, port: 8443 },
    token: TOKENS.read,
  });
  const decisions = reply.json["decisions"] as { altSvc: string | null; reason: string }[];
  const told: (string | null)[] = [];
  for (const { clientAddress: address, path } of paths) {
    const request = new Request(`https://site.test:8443${path}`, {
      headers: { "sec-fetch-dest": "document", "cf-connecting-ip": address },
      cf: CF_H2 as never,
    });
    const { response } = await visit(request, stores, isolate);
    told.push(response.headers.get("alt-svc"));
  }
  expect(decisions.map(({ altSvc }) => altSvc)).toEqual(told);
  // The calls had all kinds of answers.
  expect(new Set(decisions.map(({ reason }) => reason))).toEqual(
    new Set(["share", "exploration", "mode-fixed-h3", "mode-fixed-h2"]),
  );
});

it("an explanation of the API is the answer that the visitor gets, whatever is known of the client", async () => {
  await activate(adaptivePolicy());
  const isolate = new Isolate({ ...SETTINGS, objectsPerRegion: 1, tokens: await testTokens(), budgetMs: 1000 });
  const hasher = new Hasher(await hashKey());
  const lossy = { packetsSent: 5000, packetsLost: 250 };
  const met = [
    { address: "203.0.113.7", asn: 64_501, packetsSent: 5000, packetsLost: 0 },
    { address: "203.0.113.8", asn: 64_501, ...lossy },
  ];
  const reports = met.map(async ({ address, asn, ...counters }) => ({
    ...hasher.named(addressOf(address), 1, { asn }).keys,
    samples: [sample({ atMs: Date.now(), rttMs: 40, ...counters })],
    answers: [],
  }));
  await stores.record(pathObject("local", 0), await Promise.all(reports));
  const asked = [
    ["203.0.113.7", 64_501],
    ["203.0.113.8", 64_501],
    // Nobody knows this one.
    ["192.0.2.1", 64_500],
  ] as const;
  const explained: unknown[] = [];
  for (const [client, asn] of asked) {
    const request = { transport: "tcp", rttMs: 40, path: "/page", asn };
    const body = { client, request, port: 8443 };
    explained.push((await callApi(mounted({}, isolate), "POST", "decisions/explain", { body })).json["altSvc"]);
  }
  const told: unknown[] = [];
  for (const [address, asn] of asked) {
    const { response } = await visit(navigation({ ...CF_H2, asn }, { "cf-connecting-ip": address }), stores, isolate);
    told.push(response.headers.get("alt-svc"));
  }
  expect(told).toEqual([null, 'h3=":8443"; ma=100', null]);
  expect(explained).toEqual(told);
});

it.each(CALLS)("on the real objects: $method $resource", async ({ method, resource, status, ...options }) => {
  await activate(mode("fixed-h2"));
  const isolate = new Isolate({ ...SETTINGS, tokens: await testTokens() });
  const reply = await callApi(mounted({}, isolate), method, resource, options);
  expect([reply.status, reply.json ?? reply.text]).toEqual([status, expect.anything()]);
});

it("a change over the API is obeyed for the next visitor, and taken back by a rollback", async () => {
  const isolate = new Isolate({ ...SETTINGS, tokens: await testTokens(), budgetMs: 1000 });
  const ports = mounted({}, isolate);
  const request = () =>
    new Request("https://site.test:8443/page", {
      headers: { "sec-fetch-dest": "document", "cf-connecting-ip": "192.0.2.7" },
      cf: CF_H2 as never,
    });
  const told = async () => (await visit(request(), stores, isolate)).response.headers.get("alt-svc");
  expect(await told()).toBeNull();
  const { json } = await callApi(ports, "POST", "policies", { body: { policy: mode("fixed-h3") } });
  expect(await told()).toBeNull();
  const put = await callApi(ports, "PUT", "activation", { body: { everyone: json["version"] }, ifMatch: '"r0"' });
  expect(await told()).toBe('h3=":8443"; ma=300');
  const kill = { body: { kind: "fixed-h2" }, ifMatch: put.headers.get("etag") ?? "" };
  expect((await callApi(ports, "PUT", "activation/kill-switch", kill)).status).toBe(200);
  // The earlier offer may still be alive.
  expect(await told()).toBe("clear");
  await callApi(ports, "POST", "activation/rollback", { ifMatch: "*" });
  expect(await told()).toBe('h3=":8443"; ma=300');
  await callApi(ports, "POST", "activation/rollback", { ifMatch: "*" });
  expect(await told()).toBeNull();
  expect((await callApi(ports, "POST", "activation/rollback", { ifMatch: "*" })).status).toBe(409);
});
