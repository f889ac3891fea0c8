import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { applySamples } from "../policy-api/core/estimator.ts";
import { POLICY_CACHE_MS, POLICY_OUTDATED_MS, type Policy } from "../policy-api/core/policy.ts";
import { adaptivePolicy } from "../policy-api/core/testing.ts";
import { Isolate } from "./isolate.ts";
import { CF_H2, CF_H3, FakeStores, mode, navigation, SETTINGS, visit } from "./testing.ts";

const ORIGIN_HEADERS = { "content-type": "text/html", "x-own": "1", "cache-control": "public, max-age=60" };
const fetched: Request[] = [];
let answer: (request: Request) => Promise<Response>;

beforeEach(() => {
  fetched.length = 0;
  answer = async () => new Response("page", { headers: ORIGIN_HEADERS });
  vi.stubGlobal("fetch", (input: Request, init?: RequestInit) => {
    const request = new Request(input, init);
    fetched.push(request);
    return answer(request);
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** A client whose path lost packets. */
const lossy = async () => ({
  client: applySamples({}, [
    {
      transport: "quic",
      connectionId: "q",
      atMs: Date.now(),
      rttMs: 40,
      packetsSent: 5000,
      packetsLost: 200,
      closing: true,
    },
  ]),
});
const never = () => new Promise<never>(() => undefined);
const fails = () => Promise.reject(new Error("object is overloaded"));

describe("what a navigation is told", () => {
  it.each([
    ["fixed-h3", mode("fixed-h3"), CF_H2, 'h3=":8443"; ma=300'],
    ["fixed-h2 on HTTP/2", mode("fixed-h2"), CF_H2, null],
    ["fixed-h2 on HTTP/3", mode("fixed-h2"), CF_H3, "clear"],
    ["observe", mode("observe"), CF_H3, null],
    ["adaptive, an unknown client", adaptivePolicy(), CF_H2, 'h3=":8443"; ma=10'],
    ["no policy that can be read", undefined, CF_H2, null],
  ])("%s", async (_name, policy, cf, expected) => {
    const { response } = await visit(navigation(cf), new FakeStores(policy));
    expect(response.headers.get("alt-svc")).toBe(expected);
    expect(await response.text()).toBe("page");
    for (const [name, value] of Object.entries(ORIGIN_HEADERS)) expect(response.headers.get(name)).toBe(value);
  });

  it("adaptive, a client that is known", async () => {
    const stores = new FakeStores(adaptivePolicy());
    stores.reply = lossy;
    const { response } = await visit(navigation(), stores);
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=100');
  });

  it("a port of 443 when the visitor's URL names none", async () => {
    const request = new Request("https://site.test/", { headers: { accept: "text/html" }, cf: CF_H2 as never });
    const { response } = await visit(request, new FakeStores(mode("fixed-h3")));
    expect(response.headers.get("alt-svc")).toBe('h3=":443"; ma=300');
  });

  it("what this isolate has learnt and not yet told counts for the next visit", async () => {
    const stores = new FakeStores(adaptivePolicy());
    const isolate = new Isolate(SETTINGS);
    stores.taken = never;
    await visit(navigation(), stores, isolate);
    // The offer above is known here, whatever the object says: it is taken back when the client turns out to be clean.
    const cf = { ...CF_H2, adaptiveH3: { ...CF_H2.adaptiveH3, packetsSent: 5000 } };
    const { response } = await visit(navigation(cf), stores, isolate);
    expect(response.headers.get("alt-svc")).toBe("clear");
  });

  it("an address that cannot be believed is a client that is not known", async () => {
    const stores = new FakeStores(adaptivePolicy());
    const { response } = await visit(navigation(), stores, new Isolate({ ...SETTINGS, edge: "none" }));
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=10');
    expect(stores.lookUps).toEqual([]);
  });

  it("a late look-up and a lossy prior: an offer, of the shorter life", async () => {
    const coldStart = { advertise: "nothing", lossRatio: 0.04, deliveryRateBps: 25e6 } as const;
    const stores = new FakeStores(adaptivePolicy({ coldStart }));
    stores.reply = never;
    const { response } = await visit(navigation(), stores);
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=10');
  });

  it("an offer's life begins with the response, however long the origin took", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      answer = async () => {
        vi.setSystemTime(Date.now() + 8_000);
        return new Response("page");
      };
      const stores = new FakeStores(adaptivePolicy());
      const { settled } = await visit(navigation(), stores);
      await settled;
      expect(stores.records[0]?.[0]?.answers).toEqual([{ atMs: Date.now(), offerUntilMs: Date.now() + 10_000 }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a policy that is too old is renewed before it is obeyed; a stale one, after", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const isolate = new Isolate(SETTINGS);
      const advertised = async (policy: Policy) =>
        (await visit(navigation(), new FakeStores(policy), isolate)).response.headers.get("alt-svc");
      const offer = 'h3=":8443"; ma=300';
      expect(await advertised(mode("fixed-h3"))).toBe(offer);
      vi.setSystemTime(Date.now() + POLICY_CACHE_MS);
      expect(await advertised(mode("fixed-h2"))).toBe(offer);
      expect(await advertised(mode("fixed-h2"))).toBeNull();
      vi.setSystemTime(Date.now() + POLICY_OUTDATED_MS);
      expect(await advertised(mode("fixed-h3"))).toBe(offer);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the visitor's response does not depend on this system", () => {
  const faults: [string, (stores: FakeStores) => void][] = [
    ["object throws", (stores) => (stores.reply = fails)],
    ["object never answers", (stores) => (stores.reply = never)],
    ["object answers nonsense", (stores) => (stores.reply = async () => ({ client: { quic: 7 } }) as never)],
    ["object answers null", (stores) => (stores.reply = async () => null as never)],
    ["object takes no reports", (stores) => (stores.taken = fails)],
    ["policy store throws", (stores) => (stores.bundle = new Error("gone"))],
    ["policy store has a key of no length", (stores) => (stores.bundle = { hashKey: new ArrayBuffer(0) })],
    ["policy store answers null", (stores) => (stores.bundle = null as never)],
  ];
  it.each(faults)("%s", async (_name, breakIt) => {
    const stores = new FakeStores(adaptivePolicy());
    breakIt(stores);
    const { response } = await visit(navigation(), stores);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("page");
    expect(response.headers.get("x-own")).toBe("1");
  });

  it.each([
    ["missing", undefined],
    ["null", null],
    ["text", "cf"],
    ["fields of other types", { httpProtocol: 3, clientTcpRtt: "40", edgeL4: 5, adaptiveH3: "x", asn: {}, colo: [] }],
    ["numbers that are none", { httpProtocol: "HTTP/2", clientTcpRtt: -1, adaptiveH3: { packetsSent: 1.5 } }],
  ])("request.cf: %s", async (_name, cf) => {
    const request = navigation();
    Object.defineProperty(request, "cf", { value: cf });
    const { response } = await visit(request, new FakeStores(adaptivePolicy()));
    expect(await response.text()).toBe("page");
  });

  it("waits no longer than the budget after the origin's headers", async () => {
    const stores = new FakeStores(adaptivePolicy());
    stores.reply = never;
    const waits: number[] = [];
    vi.stubGlobal("scheduler", {
      wait: async (ms: number) => {
        waits.push(ms);
      },
    });
    const { response } = await visit(navigation(), stores);
    expect(waits).toEqual([5]);
    // Late: this connection's RTT and the prior's loss decide, and HTTP/2 is faster there.
    expect(response.headers.get("alt-svc")).toBeNull();
  });

  it("does not wait at all when the answer is there first", async () => {
    const waits: number[] = [];
    vi.stubGlobal("scheduler", { wait: async (ms: number) => void waits.push(ms) });
    const stores = new FakeStores(adaptivePolicy());
    let release: () => void = () => undefined;
    answer = () =>
      new Promise((resolve) => {
        release = () => resolve(new Response("page"));
      });
    stores.reply = async () => {
      queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => queueMicrotask(release))));
      return {};
    };
    await visit(navigation(), stores);
    expect(waits.filter((ms) => ms <= 5)).toEqual([]);
  });

  it("asks the origin before anything else", async () => {
    const stores = new FakeStores(adaptivePolicy());
    let order = "";
    answer = async () => {
      order += "origin ";
      return new Response("page");
    };
    stores.policy = async () => {
      order += "policy ";
      throw new Error("gone");
    };
    await visit(navigation(), stores);
    expect(order).toBe("origin policy ");
  });

  it("an origin that refuses is a 502, as from a plain proxy", async () => {
    answer = () => Promise.reject(new TypeError("connection refused"));
    const { response } = await visit(navigation(), new FakeStores(adaptivePolicy()));
    expect(response.status).toBe(502);
  });

  it.each(["GET", "POST"])("an origin that drops a %s is asked once, with or without ORIGIN", async (method) => {
    answer = () => Promise.reject(new TypeError("connection lost"));
    const { origin: _, ...onRoute } = SETTINGS;
    for (const settings of [SETTINGS, onRoute]) {
      fetched.length = 0;
      const request = new Request("http://site.test/", {
        method,
        headers: { accept: "text/html" },
        ...(method === "POST" ? { body: "order" } : {}),
      });
      const { response } = await visit(request, new FakeStores(mode("fixed-h3")), new Isolate(settings));
      expect([response.status, fetched.length]).toEqual([502, 1]);
    }
  });

  it("a body that breaks breaks for the visitor too", async () => {
    answer = async () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new TextEncoder().encode("half"));
            controller.error(new Error("origin died"));
          },
        }),
      );
    const { response } = await visit(navigation(), new FakeStores(mode("fixed-h3")));
    await expect(response.text()).rejects.toThrow("origin died");
  });

  it.each([204, 301, 304, 404, 500])("a status %i stays as it is", async (status) => {
    answer = async () => new Response(null, { status, headers: { location: "/x", "set-cookie": "a=b" } });
    const { response } = await visit(navigation(), new FakeStores(mode("fixed-h3")));
    expect(response.status).toBe(status);
    expect(response.headers.get("set-cookie")).toBe("a=b");
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=300');
  });
});

describe("what is no navigation passes through with no look-up", () => {
  it.each([
    ["an image", new Request("http://site.test/", { headers: { "sec-fetch-dest": "image", accept: "text/html" } })],
    ["a fetch", new Request("http://site.test/", { headers: { "sec-fetch-dest": "empty" } })],
    ["a frame", new Request("http://site.test/", { headers: { "sec-fetch-dest": "iframe" } })],
    ["a POST", new Request("http://site.test/", { method: "POST", headers: { "sec-fetch-dest": "document" } })],
    ["a HEAD", new Request("http://site.test/", { method: "HEAD", headers: { accept: "text/html" } })],
    ["a client that asks for anything", new Request("http://site.test/", { headers: { accept: "*/*" } })],
    ["a websocket", new Request("http://site.test/", { headers: { upgrade: "websocket", accept: "text/html" } })],
  ])("%s", async (_name, request) => {
    const own = new Response("as it came");
    answer = async () => own;
    const stores = new FakeStores(mode("fixed-h3"));
    const { response } = await visit(request, stores);
    expect(response).toBe(own);
    expect(stores.policyCalls + stores.lookUps.length + stores.records.length).toBe(0);
  });
});

describe("the origin", () => {
  it("gets path, query, method, body and headers, and the visitor's host beside its own", async () => {
    const request = new Request("http://site.test:8443/a%20b?c=d%2F", {
      method: "POST",
      body: "body",
      headers: { "x-own": "2", host: "site.test:8443" },
    });
    await visit(request, new FakeStores(mode("observe")));
    const [got] = fetched;
    expect(got?.url).toBe("http://origin.test/a%20b?c=d%2F");
    expect(got?.method).toBe("POST");
    expect(got?.redirect).toBe("manual");
    expect(await got?.text()).toBe("body");
    expect(got?.headers.get("x-own")).toBe("2");
  });

  it("learns the host that the visitor used: from our edge, elsewhere from here, whatever the visitor says", async () => {
    for (const [edge, expected] of [
      ["adaptive-h3", "as our edge says"],
      ["cloudflare", "site.test:8443"],
    ] as const) {
      fetched.length = 0;
      const request = navigation(CF_H2, { "x-forwarded-host": "as our edge says" });
      await visit(request, new FakeStores(mode("observe")), new Isolate({ ...SETTINGS, edge }));
      expect(fetched[0]?.headers.get("x-forwarded-host")).toBe(expected);
    }
  });

  it("has no say in Alt-Svc: what it sends speaks of its own ports", async () => {
    answer = async () => new Response("page", { headers: { "alt-svc": 'h3=":443"; ma=86400', "x-own": "1" } });
    for (const request of [
      navigation(),
      new Request("http://site.test/", { headers: { "sec-fetch-dest": "image" } }),
    ]) {
      const { response } = await visit(request, new FakeStores(mode("fixed-h2")));
      expect(response.headers.get("alt-svc")).toBeNull();
      expect(response.headers.get("x-own")).toBe("1");
      expect(await response.text()).toBe("page");
    }
  });

  it("is where the route leads without ORIGIN", async () => {
    const { origin: _, ...settings } = SETTINGS;
    await visit(navigation(), new FakeStores(mode("observe")), new Isolate(settings));
    expect(fetched[0]?.url).toBe("http://site.test:8443/page?a=1");
  });
});

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
