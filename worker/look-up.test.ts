import { createExecutionContext } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { NO_OFFER } from "../policy-api/decision/offers.ts";
import type { Policy } from "../policy-api/decision/policy.ts";
import { adaptivePolicy, flatTable, GAINS, offersHeld } from "../policy-api/decision/testing.ts";
import { Isolate } from "./isolate.ts";
import { lookUp } from "./look-up.ts";
import { Hasher } from "./hasher.ts";
import {
  CF_H2,
  CF_H3,
  fails,
  FakeStores,
  H3_FIRST,
  mode,
  navigation,
  never,
  SETTINGS,
  stubOrigin,
  visit,
  withoutGathering,
} from "./testing.ts";
import { visitOf } from "./visit.ts";

stubOrigin();
withoutGathering();

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
    const stores = new FakeStores(H3_FIRST);
    const { settled } = await visit(navigation(cloudflare), stores, new Isolate({ ...SETTINGS, edge: "cloudflare" }));
    await settled;
    expect(stores.records).toHaveLength(1);
    expect(JSON.stringify([stores.lookUps, stores.records])).not.toContain("192.0.2");
  });
});

describe("what is remembered of a visit", () => {
  it("what this connection showed, so that the next visit over another does not begin cold", async () => {
    const stores = new FakeStores(H3_FIRST);
    stores.taken = never;
    const isolate = new Isolate(SETTINGS);
    const shown = { ...CF_H3, adaptiveH3: { ...CF_H2.adaptiveH3, packetsSent: 5000 } };
    expect((await visit(navigation(shown), stores, isolate)).response.headers.get("alt-svc")).toBe("clear");
    const another = { ...CF_H2, adaptiveH3: { ...CF_H2.adaptiveH3, connectionId: "c2" } };
    expect((await visit(navigation(another), stores, isolate)).response.headers.get("alt-svc")).toBeNull();
  });

  it("of a connection that showed nothing yet only the answer: our edge posts its samples", async () => {
    const stores = new FakeStores(H3_FIRST);
    const { settled } = await visit(navigation(), stores);
    await settled;
    expect(stores.records).toMatchObject([[{ samples: [], answers: [{ offerUntilMs: expect.any(Number) }] }]]);
  });

  it.each([
    ["with an answer", H3_FIRST, [[{ samples: [{ transport: "tcp", rttMs: 40 }], answers: [{}] }]]],
    ["but not alone: the next request brings another one", mode("observe"), []],
  ])("on Cloudflare the reading that came with the request, %s", async (_name, policy, expected) => {
    const stores = new FakeStores(policy);
    const cf = { httpProtocol: "HTTP/2", clientTcpRtt: 40, colo: "NRT", continent: "AS", longitude: "139.7" };
    const { settled } = await visit(navigation(cf), stores, new Isolate({ ...SETTINGS, edge: "cloudflare" }));
    await settled;
    expect(stores.records).toMatchObject(expected);
  });
});

describe("what a visit tells of an earlier offer", () => {
  const nowMs = Date.now();
  const offering = { untilMs: nowMs + 60_000, answeredAtMs: nowMs - 10_000, offering: true };
  it.each([
    ["taken: it came over HTTP/3", CF_H3, NO_OFFER, "taken"],
    ["ignored: it lives, and the client came over HTTP/2", CF_H2, offersHeld(offering), "ignored"],
    ["nothing: none was made", CF_H2, NO_OFFER, undefined],
    ["nothing: it has ended", CF_H2, offersHeld({ ...offering, untilMs: nowMs - 1 }), undefined],
    [
      "nothing: it is too fresh",
      CF_H2,
      offersHeld({ ...offering, untilMs: nowMs + 10_000, answeredAtMs: nowMs + 60_000 }),
      undefined,
    ],
  ])("%s", async (_name, cf, offers, expected) => {
    const stores = new FakeStores(H3_FIRST);
    stores.reply = async () => ({ offers });
    const { settled } = await visit(navigation(cf), stores);
    await settled;
    expect(stores.records[0]?.[0]?.answers.map((answer) => answer.earlierOffer)).toEqual([expected]);
  });
});

describe("an offer that came while the origin worked", () => {
  const origin = stubOrigin();
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ["is not ignored by the page that was asked for before", 0, undefined],
    ["nor by one of half a second later", 500, undefined],
    ["but by one of a second later", 1_000, "ignored"],
  ])("%s", async (_name, afterMs, expected) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const askedAtMs = Date.now();
    origin.answer = async () => {
      await Promise.resolve();
      vi.setSystemTime(askedAtMs + 8_000);
      return new Response("page");
    };
    const stores = new FakeStores(H3_FIRST);
    const held = { untilMs: askedAtMs + 60_000, answeredAtMs: askedAtMs - afterMs, offering: true };
    stores.reply = async () => ({ offers: offersHeld(held) });
    const isolate = new Isolate({ ...SETTINGS, budgetMs: 1000 });
    const add = vi.spyOn(isolate.counters, "add");
    await visit(navigation(), stores, isolate);
    const fates = add.mock.calls.filter(([family]) => family === "offers").map(([, labels]) => labels);
    expect(fates).toEqual(expected === undefined ? [] : [{ fate: expected }]);
  });
});

describe("what is remembered of an offer", () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("is of one origin: on another one the same client has ignored nothing, and pays the price", async () => {
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    vi.useFakeTimers({ toFake: ["Date"] });
    const method = { ...GAINS, table: flatTable(0.2, 0.2, { price: [0.05] }) };
    const stores = new FakeStores(adaptivePolicy({ method, ma: { minS: 100, maxS: 100 } }));
    const isolate = new Isolate({ ...SETTINGS, budgetMs: 1000, logDecisions: true });
    const add = vi.spyOn(isolate.counters, "add");
    const seen: unknown[] = [];
    const [host, other] = ["https://site.test:8443/", "https://other.test:8443/"];
    for (const url of [host, other, host, other]) {
      await visit(new Request(url, navigation()), stores, isolate);
      const { price } = (JSON.parse(lines.at(-1) ?? "") as { decision: { price: number } }).decision;
      seen.push([price, add.mock.calls.filter(([family]) => family === "offers").length]);
      vi.setSystemTime(Date.now() + 5_000);
    }
    // The price, and how many pages had ignored an offer until then.
    expect(seen).toEqual([
      [0.05, 0],
      [0.05, 0],
      [0, 1],
      [0, 2],
    ]);
    expect(stores.lookUps).toHaveLength(1);
  });
});

describe("an answer to a client that holds an offer", () => {
  const nowMs = Date.now();
  const held = { untilMs: nowMs + 90_000, answeredAtMs: nowMs - 10_000, offering: true };
  const answersAfter = async (offers: Parameters<typeof offersHeld>[0], policy: Policy = H3_FIRST) => {
    const stores = new FakeStores(policy);
    stores.reply = async () => ({ offers: offersHeld(offers) });
    const { settled } = await visit(navigation(CF_H3), stores);
    await settled;
    return stores.records.flat().flatMap(({ answers }) => answers);
  };

  it.each([
    ["it makes the offer little longer", held, 0],
    ["it makes the offer twice as long", { ...held, untilMs: nowMs + 40_000 }, 1],
    ["half an hour will soon have passed", { ...held, answeredAtMs: nowMs - 900_000 }, 1],
    ["it came over HTTP/3, and ignored offers before", { ...held, ignoredAtMs: [nowMs - 60_000] }, 1],
    ["it holds none", { ...held, offering: false }, 1],
  ])("is told to the store or not: %s", async (_name, offers, expected) => {
    expect(await answersAfter(offers)).toHaveLength(expected);
  });

  it("is told if it takes the offer back", async () => {
    expect(await answersAfter(held, adaptivePolicy())).toMatchObject([{ offerUntilMs: 0 }]);
  });

  it("is told where nobody knows what the store has", async () => {
    const stores = new FakeStores(H3_FIRST);
    stores.reply = fails;
    const { settled } = await visit(navigation(), stores);
    await settled;
    expect(stores.records.flat().flatMap(({ answers }) => answers)).toHaveLength(1);
  });
});

describe("when the time is up", () => {
  it("there is what was found by then, and what arrives later does not change it", async () => {
    const stores = new FakeStores(adaptivePolicy());
    const isolate = new Isolate(SETTINGS);
    await isolate.policyCache.renew(stores, Date.now());
    const asked = Promise.withResolvers<void>();
    const { promise, resolve } = Promise.withResolvers<object>();
    stores.reply = () => {
      asked.resolve();
      return promise;
    };
    const request = navigation();
    const within = lookUp(visitOf(request, new URL(request.url), stores, createExecutionContext(), isolate));
    const atOnce = await within(0);
    expect(atOnce).toMatchObject({ cached: isolate.policyCache.current, client: undefined, remembered: undefined });
    await asked.promise;
    const late = await within(0);
    expect(late).toMatchObject({ client: stores.lookUps[0], remembered: undefined });
    resolve({ offers: NO_OFFER });
    expect((await within(1_000)).remembered).toEqual({ offers: NO_OFFER });
    expect([atOnce.client, late.remembered]).toEqual([undefined, undefined]);
  });
});

describe("the autonomous system and the country", () => {
  it("go with the client's keys, in the look-up and in what is remembered", async () => {
    const stores = new FakeStores(H3_FIRST);
    const { settled } = await visit(navigation({ ...CF_H2, asn: 64_500, country: "JP" }), stores);
    await settled;
    const whence = { asn: 64_500, country: "JP" };
    expect(stores.lookUps.map(({ keys }) => keys)).toMatchObject([whence]);
    expect(stores.records.flat()).toMatchObject([whence]);
  });

  it.each([
    ["none is told", CF_H2],
    ["what is told is none", { ...CF_H2, asn: "AS64500", country: 81 }],
  ])("stay out of them where %s", async (_name, cf) => {
    const stores = new FakeStores(H3_FIRST);
    const { settled } = await visit(navigation(cf), stores);
    await settled;
    for (const keys of [stores.lookUps[0]?.keys, stores.records[0]?.[0]])
      for (const name of ["asn", "country"]) expect(keys).not.toHaveProperty(name);
  });
});

describe("a share of clients", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ["is drawn where the policy offers to one", adaptivePolicy({ method: { kind: "share", share: 0.5 } }), 1],
    ["is not drawn by another method", adaptivePolicy(), 0],
    ["is not drawn to explore", adaptivePolicy({ exploration: { share: 0.5 } }), 0],
    [
      "is not drawn in another mode",
      { ...adaptivePolicy({ method: { kind: "share", share: 1 } }), mode: "observe" },
      0,
    ],
  ] as const)("%s", async (_name, policy, times) => {
    const drawn = vi.spyOn(Hasher.prototype, "unit");
    await visit(navigation(), new FakeStores(policy));
    expect(drawn.mock.calls.filter(([draw]) => draw === "share")).toHaveLength(times);
  });

  it("has the client's own unit, visit after visit", async () => {
    const stores = new FakeStores(adaptivePolicy({ method: { kind: "share", share: 0.5 } }));
    const told = new Map<string, Set<string | null>>();
    for (let i = 0; i < 40; i++) {
      const address = `192.0.2.${i % 20}`;
      const { response } = await visit(navigation(CF_H2, { "cf-connecting-ip": address }), stores);
      told.set(address, (told.get(address) ?? new Set()).add(response.headers.get("alt-svc")));
    }
    expect([...told.values()].map((answers) => answers.size)).toEqual(Array.from({ length: 20 }, () => 1));
    expect(new Set([...told.values()].flatMap((answers) => [...answers])).size).toBe(2);
  });
});

describe("a client that was looked up a moment ago", () => {
  const CLOUDFLARE = { ...CF_H2, colo: "NRT", adaptiveH3: undefined };
  const twice = async (policy: Policy): Promise<FakeStores> => {
    const stores = new FakeStores(policy);
    stores.reply = async () => ({});
    const isolate = new Isolate({ ...SETTINGS, edge: "cloudflare" });
    for (let page = 0; page < 2; page++) {
      const { settled } = await visit(navigation(CLOUDFLARE), stores, isolate);
      await settled;
    }
    return stores;
  };

  it("is not asked for again, and what changes nothing is not told", async () => {
    const { lookUps, records } = await twice(adaptivePolicy());
    expect(lookUps).toHaveLength(1);
    expect(records).toEqual([]);
  });

  it("is asked for each time, and told of each time, if its answers are drawn: no arm may be known better", async () => {
    const { lookUps, records } = await twice(adaptivePolicy({ exploration: { share: 1 } }));
    expect(lookUps).toHaveLength(2);
    expect(records.flat().flatMap(({ samples }) => samples).length).toBeGreaterThan(1);
  });
});
