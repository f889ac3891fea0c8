import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addSample } from "../policy-api/decision/connections.ts";
import type { ClientState } from "../policy-api/decision/history.ts";
import { applyAnswer, NO_OFFER } from "../policy-api/decision/offers.ts";
import { POLICY_CACHE_MS, POLICY_OUTDATED_MS, type Policy } from "../policy-api/decision/policy.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import { adaptivePolicy, flatTable, GAINS, offersHeld, sample } from "../policy-api/decision/testing.ts";
import { Isolate } from "./isolate.ts";
import {
  CF_H2,
  CF_H3,
  fails,
  FakeStores,
  H3_FIRST,
  HASH_KEY,
  inForce,
  mode,
  navigation,
  never,
  PAGE_HEADERS,
  SETTINGS,
  stubOrigin,
  visit,
} from "./testing.ts";

const origin = stubOrigin();

/** What is kept of a client after one connection. */
function met(over: Partial<PathSample>): ClientState {
  const nowMs = Date.now();
  const one = sample({
    connectionId: "q",
    atMs: nowMs,
    rttMs: 40,
    packetsSent: 5000,
    packetsLost: 200,
    closing: true,
    ...over,
  });
  return { connections: addSample([], one) };
}

describe("what a page is told of its decision", () => {
  const told = async (policy: Policy, announceDecisions: boolean, cf: unknown = CF_H2): Promise<string | null> => {
    const stores = new FakeStores(policy);
    const { response, settled } = await visit(navigation(cf), stores, new Isolate({ ...SETTINGS, announceDecisions }));
    await settled;
    return response.headers.get("server-timing");
  };

  it.each([
    ["fixed-h3", CF_H2, 'h3-why;desc="offered for 300 s: mode-fixed-h3, version 3"'],
    ["fixed-h2", CF_H3, 'h3-why;desc="any earlier offer taken back: mode-fixed-h2, version 3"'],
    ["observe", CF_H2, 'h3-why;desc="nothing said: mode-observe, version 3"'],
  ] as const)("%s, if it is to be told", async (name, cf, header) => {
    expect(await told(mode(name), true, cf)).toBe(header);
  });

  it("is nothing unless somebody wants that", async () => {
    expect(await told(mode("fixed-h3"), false)).toBeNull();
  });
});

describe("a page without TLS", () => {
  const plain = new Request("http://site.test/", navigation({ ...CF_H2, colo: "NRT" }));
  it.each([
    ["on Cloudflare nothing is looked up, said or counted", "cloudflare", null, 0],
    ["behind another edge visitors came over TLS, whatever the URL says", "adaptive-h3", 'h3=":443"; ma=100', 1],
  ] as const)("%s", async (_name, edge, altSvc, times) => {
    const stores = new FakeStores(H3_FIRST);
    const isolate = new Isolate({ ...SETTINGS, edge });
    const { response, settled } = await visit(new Request(plain), stores, isolate);
    await settled;
    expect(response.headers.get("alt-svc")).toBe(altSvc);
    expect([stores.lookUps.length, stores.flushed.length, stores.records.length]).toEqual([times, times, times]);
  });
});

describe("what is counted of navigations", () => {
  const sums = (stores: FakeStores): Record<string, number> => {
    const all: Record<string, number> = {};
    for (const { counted } of stores.flushed)
      for (const [key, count] of Object.entries(counted)) all[key] = (all[key] ?? 0) + count;
    return all;
  };

  it("has what was decided, what is known of the path, and what the origin said", async () => {
    const stores = new FakeStores(adaptivePolicy());
    const isolate = new Isolate(SETTINGS);
    const { settled } = await visit(navigation(), stores, isolate);
    await settled;
    expect(sums(stores)).toEqual({
      "origin|served": 1,
      "decisions|h2-faster|nothing|policy|tcp|no": 1,
      "clients_seen|30|unknown|nothing": 1,
      "look_ups|store": 1,
    });
    origin.answer = async () => new Response("no", { status: 503 });
    const second = await visit(navigation(CF_H3), stores, isolate);
    await second.settled;
    expect(sums(stores)).toMatchObject({
      "origin|error": 1,
      "decisions|h2-faster|clear|policy|quic|no": 1,
      "look_ups|memory": 1,
      "offers|taken": 1,
    });
  });

  it("says which decisions came too late, and which pages had none", async () => {
    const stores = new FakeStores(adaptivePolicy());
    const isolate = new Isolate({ ...SETTINGS, budgetMs: 0 });
    // Without a budget the first page cannot wait for the policy; the next one has it, and nobody tells of its client.
    const first = await visit(navigation(), stores, isolate);
    await first.settled;
    stores.reply = never;
    await visit(navigation(CF_H2, { "cf-connecting-ip": "198.51.100.9" }), stores, isolate);
    await isolate.counters.flush(async (_region, delta) => void stores.flushed.push(delta), "local", Date.now());
    const all = Object.entries(sums(stores));
    expect(all.filter(([key]) => key === "undecided" || key.endsWith("|yes")).map(([, count]) => count)).toEqual([
      1, 1,
    ]);
    expect(all.filter(([key]) => key.startsWith("decisions|") && key.endsWith("|no"))).toEqual([]);
  });

  it("says which look-ups failed", async () => {
    const stores = new FakeStores(adaptivePolicy());
    stores.reply = fails;
    const { settled } = await visit(navigation(), stores, new Isolate(SETTINGS));
    await settled;
    expect(sums(stores)).toMatchObject({ "look_ups|store": 1, look_ups_failed: 1 });
  });

  it("waits to be told again where the store takes no counts, and no page waits for that", async () => {
    const stores = new FakeStores(mode("fixed-h3"));
    stores.count = fails;
    const { response, settled } = await visit(navigation(), stores);
    await settled;
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=300');
  });
});

describe("what a navigation is told", () => {
  it.each([
    ["fixed-h3", mode("fixed-h3"), CF_H2, 'h3=":8443"; ma=300'],
    ["fixed-h2 on HTTP/2", mode("fixed-h2"), CF_H2, null],
    ["fixed-h2 on HTTP/3", mode("fixed-h2"), CF_H3, "clear"],
    ["observe", mode("observe"), CF_H3, null],
    ["adaptive, an unknown client, where many gain", H3_FIRST, CF_H2, 'h3=":8443"; ma=100'],
    ["adaptive, an unknown client, where few gain", adaptivePolicy(), CF_H2, null],
    ["adaptive, an unknown client on HTTP/3, where few gain", adaptivePolicy(), CF_H3, "clear"],
    ["no policy that can be read", undefined, CF_H2, null],
  ])("%s", async (_name, policy, cf, expected) => {
    const { response } = await visit(navigation(cf), new FakeStores(policy));
    expect(response.headers.get("alt-svc")).toBe(expected);
    expect(await response.text()).toBe("page");
    for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(response.headers.get(name)).toBe(value);
  });

  it.each([
    ["fixed-h3", mode("fixed-h3"), CF_H2, 'h3=":8443"; ma=300'],
    ["fixed-h2 on HTTP/3", mode("fixed-h2"), CF_H3, "clear"],
    ["observe", mode("observe"), CF_H2, null],
  ])("with a marker, for a rule to make Alt-Svc of: %s", async (_name, policy, cf, expected) => {
    const isolate = new Isolate({ ...SETTINGS, actuator: "marker" });
    const { response } = await visit(navigation(cf), new FakeStores(policy), isolate);
    expect([response.headers.get("h3-advice"), response.headers.get("alt-svc")]).toEqual([expected, null]);
  });

  it("adaptive, a client that is known", async () => {
    const stores = new FakeStores(adaptivePolicy());
    stores.reply = async () => ({ client: met({}) });
    const { response } = await visit(navigation(), stores, new Isolate({ ...SETTINGS, budgetMs: 1000 }));
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=100');
  });

  it("adaptive, a client that shows no loss", async () => {
    const stores = new FakeStores(adaptivePolicy());
    stores.reply = async () => ({ client: met({ packetsLost: 0 }) });
    const { response } = await visit(navigation(), stores, new Isolate({ ...SETTINGS, budgetMs: 1000 }));
    expect(response.headers.get("alt-svc")).toBeNull();
  });

  it("a port of 443 when the visitor's URL names none", async () => {
    const request = new Request("https://site.test/", { headers: { accept: "text/html" }, cf: CF_H2 as never });
    const { response } = await visit(request, new FakeStores(mode("fixed-h3")));
    expect(response.headers.get("alt-svc")).toBe('h3=":443"; ma=300');
  });

  it("what this isolate has learnt and not yet told counts for the next visit", async () => {
    const stores = new FakeStores(H3_FIRST);
    const isolate = new Isolate(SETTINGS);
    stores.taken = never;
    await visit(navigation(), stores, isolate);
    // This isolate knows about the offer above, and the object does not. Now the client shows no loss: the offer is
    // taken back.
    const cf = { ...CF_H2, adaptiveH3: { ...CF_H2.adaptiveH3, packetsSent: 5000 } };
    const { response } = await visit(navigation(cf), stores, isolate);
    expect(response.headers.get("alt-svc")).toBe("clear");
  });

  it("an address that cannot be believed is a client that is not known", async () => {
    const stores = new FakeStores(H3_FIRST);
    const { response } = await visit(navigation(), stores, new Isolate({ ...SETTINGS, edge: "none" }));
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=100');
    expect(stores.lookUps).toEqual([]);
  });

  it.each([
    ["near", 12, null],
    ["far away", 90, 'h3=":8443"; ma=100'],
  ])("a late look-up: by the mix, at this connection's RTT: %s", async (_name, clientTcpRtt, expected) => {
    const gains = {
      gain: [
        [
          [-0.3, 0.3],
          [-0.3, 0.3],
        ],
      ],
      se: [
        [
          [0.01, 0.01],
          [0.01, 0.01],
        ],
      ],
    };
    const table = flatTable(0, 0, {
      rttMs: [10, 100],
      next: gains,
      return: gains,
      price: [0, 0],
      priceSe: [0.01, 0.01],
    });
    const stores = new FakeStores(adaptivePolicy({ method: { ...GAINS, table } }));
    stores.reply = never;
    const { response } = await visit(navigation({ ...CF_H2, clientTcpRtt }), stores);
    expect(response.headers.get("alt-svc")).toBe(expected);
  });

  it.each([
    ["loss", 250, 'h3=":8443"; ma=100'],
    ["none", 0, null],
  ])("a late look-up: and by what this connection has shown of loss: %s", async (_name, packetsLost, expected) => {
    const stores = new FakeStores(adaptivePolicy());
    stores.reply = never;
    const cf = { ...CF_H2, adaptiveH3: { ...CF_H2.adaptiveH3, packetsSent: 5000, packetsLost } };
    const { response } = await visit(navigation(cf), stores);
    expect(response.headers.get("alt-svc")).toBe(expected);
  });

  it.each([
    ["a visit's first page", undefined, 1.2],
    ["the next one, a minute later", 60_000, 0.875],
    ["the first one of another visit", 3_600_000, 1.2],
  ])("adaptive, by the pages that follow: after %s", async (_name, answeredMsAgo, pages) => {
    const lines: string[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    const stores = new FakeStores(H3_FIRST);
    if (answeredMsAgo !== undefined)
      stores.reply = async () => ({ offers: offersHeld({ answeredAtMs: Date.now() - answeredMsAgo }) });
    const { settled } = await visit(
      navigation(),
      stores,
      new Isolate({ ...SETTINGS, budgetMs: 1000, logDecisions: true }),
    );
    await settled;
    log.mockRestore();
    const [line] = lines.map((one) => JSON.parse(one) as { decision: { pages: number } });
    expect(line?.decision.pages).toBeCloseTo(pages, 9);
  });

  it.each([
    [0, null],
    [1, 'h3=":8443"; ma=10'],
  ])("by share: a share of %i", async (share, expected) => {
    const { response } = await visit(
      navigation(),
      new FakeStores(adaptivePolicy({ method: { kind: "share", share } })),
    );
    expect(response.headers.get("alt-svc")).toBe(expected);
  });

  it("an offer's life begins with the response, however long the origin took", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      origin.answer = async () => {
        vi.setSystemTime(Date.now() + 8_000);
        return new Response("page");
      };
      const stores = new FakeStores(H3_FIRST);
      const { settled } = await visit(navigation(), stores);
      await settled;
      expect(stores.records[0]?.[0]?.answers).toMatchObject([{ atMs: Date.now(), offerUntilMs: Date.now() + 100_000 }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a policy that is too old is renewed before it is obeyed; a stale one, after", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const isolate = new Isolate(SETTINGS);
      let revision = 0;
      /** @param isSlow Whether the store answers only after the response. */
      const advertised = async (policy: Policy, isSlow = false) => {
        const stores = new FakeStores(policy);
        const bundle = { inForce: inForce(policy, { revision: ++revision }), hashKey: HASH_KEY };
        const responded = Promise.withResolvers<undefined>();
        stores.policyBundle = async () => {
          if (isSlow) await responded.promise;
          return bundle;
        };
        const { response, settled } = await visit(navigation(), stores, isolate);
        responded.resolve(undefined);
        await settled;
        return response.headers.get("alt-svc");
      };
      const offer = 'h3=":8443"; ma=300';
      expect(await advertised(mode("fixed-h3"))).toBe(offer);
      vi.setSystemTime(Date.now() + POLICY_CACHE_MS);
      expect(await advertised(mode("fixed-h2"), true)).toBe(offer);
      expect(await advertised(mode("fixed-h2"))).toBe("clear");
      vi.setSystemTime(Date.now() + POLICY_OUTDATED_MS);
      expect(await advertised(mode("fixed-h3"))).toBe(offer);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a client that ignores its offers", () => {
  /** Visits of one client, each to a new isolate, with a store that remembers. */
  class Client {
    readonly #stores = new FakeStores({ ...H3_FIRST, ma: { minS: 60, maxS: 60 } });
    readonly #beganMs = Date.now();

    #state: ClientState | undefined;

    /** Adds a closing sample of a connection over QUIC, this many seconds after the first visit. */
    measuredOverQuic(second: number): void {
      const atMs = this.#beganMs + second * 1000;
      this.#state = met({ transport: "quic", atMs, rttMs: 5, packetsSent: 9, packetsLost: 0 });
    }

    constructor() {
      this.#stores.reply = async () => ({
        ...(this.#state === undefined ? {} : { client: this.#state }),
        offers: this.#stores.records.flatMap(([report]) => report?.answers ?? []).reduce(applyAnswer, NO_OFFER),
      });
    }

    /** The Alt-Svc of a visit, this many seconds after the first one. */
    async at(second: number, cf: unknown = CF_H2): Promise<string | null> {
      vi.setSystemTime(this.#beganMs + second * 1000);
      const { response, settled } = await visit(navigation(cf), this.#stores);
      await settled;
      return response.headers.get("alt-svc");
    }
  }
  const offer = 'h3=":8443"; ma=60';

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / 10_000) * 10_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is offered nothing for a while, and then once more", async () => {
    const client = new Client();
    for (const second of [0, 10, 20, 30]) expect(await client.at(second), `${second} s`).toBe(offer);
    // Three were ignored. The last offer is still alive in the client, and is taken back.
    expect(await client.at(40)).toBe("clear");
    expect(await client.at(80)).toBe("clear");
    // By then the last offer has ended. The pause ends five minutes after the last ignored offer.
    expect(await client.at(100)).toBeNull();
    expect(await client.at(30 + 299)).toBeNull();
    expect(await client.at(30 + 300)).toBe(offer);
    // The next pause is twice as long.
    expect(await client.at(340)).toBe(offer);
    expect(await client.at(350)).toBe("clear");
    expect(await client.at(340 + 599)).toBeNull();
    expect(await client.at(340 + 600)).toBe(offer);
  });

  it("is offered HTTP/3 again as soon as it has come over it", async () => {
    const client = new Client();
    for (const second of [0, 10, 20, 30]) await client.at(second);
    expect(await client.at(40)).toBe("clear");
    expect(await client.at(50, CF_H3)).toBe(offer);
    expect(await client.at(51)).toBe(offer);
  });

  it("is not taken for blocked where something else than its pages was measured over HTTP/3", async () => {
    const client = new Client();
    for (const second of [0, 10, 20, 30]) await client.at(second);
    client.measuredOverQuic(35);
    expect(await client.at(40)).toBe(offer);
  });

  it("but not for pages that were opened together", async () => {
    const client = new Client();
    for (const second of [0, 2, 3, 4, 5, 6, 7, 8]) expect(await client.at(second), `${second} s`).toBe(offer);
  });

  it("nor for visits after an offer has ended", async () => {
    const client = new Client();
    for (let visited = 0; visited < 6; visited++) expect(await client.at(visited * 60)).toBe(offer);
  });
});

describe("the visitor's response does not depend on this system", () => {
  const faults: [string, (stores: FakeStores) => void][] = [
    ["object throws", (stores) => (stores.reply = fails)],
    ["object never answers", (stores) => (stores.reply = never)],
    ["object answers nonsense", (stores) => (stores.reply = async () => ({ client: { connections: 7 } }) as never)],
    [
      "object answers what it kept before",
      (stores) => (stores.reply = async () => ({ client: { quic: {} } }) as never),
    ],
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
    const stores = new FakeStores(H3_FIRST);
    stores.reply = never;
    const isolate = new Isolate(SETTINGS);
    await isolate.policyCache.renew(stores, Date.now());
    const waits: number[] = [];
    vi.stubGlobal("scheduler", {
      wait: async (ms: number) => {
        waits.push(ms);
      },
    });
    const { response } = await visit(navigation(), stores, isolate);
    expect(waits).toEqual([5]);
    // The look-up is late, so the mix decides.
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=100');
  });

  it("does not wait at all when the answer is there first", async () => {
    const waits: number[] = [];
    vi.stubGlobal("scheduler", { wait: async (ms: number) => void waits.push(ms) });
    const stores = new FakeStores(adaptivePolicy());
    let release: () => void = () => undefined;
    origin.answer = () =>
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
    origin.answer = async () => {
      order += "origin ";
      return new Response("page");
    };
    stores.policyBundle = async () => {
      order += "policy ";
      throw new Error("gone");
    };
    await visit(navigation(), stores);
    expect(order).toBe("origin policy ");
  });
});

describe("what is no navigation passes through with no look-up", () => {
  it.each([
    ["an image", new Request("https://site.test/", { headers: { "sec-fetch-dest": "image", accept: "text/html" } })],
    ["a fetch", new Request("https://site.test/", { headers: { "sec-fetch-dest": "empty" } })],
    ["a frame", new Request("https://site.test/", { headers: { "sec-fetch-dest": "iframe" } })],
    ["a POST", new Request("https://site.test/", { method: "POST", headers: { "sec-fetch-dest": "document" } })],
    ["a HEAD", new Request("https://site.test/", { method: "HEAD", headers: { accept: "text/html" } })],
    ["a client that asks for anything", new Request("https://site.test/", { headers: { accept: "*/*" } })],
    ["a websocket", new Request("https://site.test/", { headers: { upgrade: "websocket", accept: "text/html" } })],
  ])("%s", async (_name, request) => {
    const own = new Response("as it came");
    origin.answer = async () => own;
    const stores = new FakeStores(mode("fixed-h3"));
    const { response } = await visit(request, stores);
    expect(response).toBe(own);
    expect(stores.bundleCalls + stores.lookUps.length + stores.records.length).toBe(0);
  });
});
