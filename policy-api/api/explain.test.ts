import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import published from "../policies/published.json" with { type: "json" };
import { addSample } from "../decision/connections.ts";
import { NO_OFFER } from "../decision/offers.ts";
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import { adaptivePolicy, NOON_MS, offersHeld, sample } from "../decision/testing.ts";
import { callApi, faultsOf, type TestPorts, testPorts, TOKENS } from "./testing.ts";

let ports: TestPorts;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON_MS });
  ports = await testPorts();
});
afterEach(() => {
  vi.useRealTimers();
});

const by = { author: "setup", note: null, ifMatch: "*" as const };
const fixed = (mode: Policy["mode"]): Policy => ({ ...INITIAL_POLICY, mode, source: `all ${mode}` });
async function add(policy: Policy): Promise<number> {
  const created = await ports.store.create({ policy, author: "setup", note: null });
  return created.kind === "created" ? created.version.version : -1;
}
const ask = (body: object) => callApi(ports, "POST", "decisions/explain", { body, token: TOKENS.read });
async function explained(body: object): Promise<Record<string, unknown>> {
  const reply = await ask(body);
  expect([reply.status, faultsOf(reply)]).toEqual([200, []]);
  return reply.json;
}

const request = { transport: "tcp", rttMs: 50 };
const ZERO_LINES = { kind: "zero-lines", lines: [{ deliveryRateBps: 1e6, rttMs: [0], lossRatio: [0] }] } as const;
const history = { state: "known", connections: [{ transport: "tcp", packets: 5000, lost: 250 }] };

describe("on given facts", () => {
  it("under what is in force", async () => {
    expect(await explained({ request })).toEqual({
      revision: 1,
      policyVersion: 1,
      request: { ...request, path: "/" },
      history: { state: "unknown" },
      decision: { advertise: { kind: "nothing" }, mode: "fixed-h2", reason: "mode-fixed-h2", propensity: 1 },
      altSvc: null,
    });
  });

  it("under a policy of its own: decision, gains, header; nothing of it is kept", async () => {
    expect(await explained({ request, history, policy: published, port: 8443 })).toMatchObject({
      revision: null,
      policyVersion: null,
      altSvc: 'h3=":8443"; ma=300',
      decision: {
        advertise: { kind: "h3", maS: 300 },
        reason: "h3-faster",
        rttMs: 50,
        contentBytes: 10_000_000,
        quicAlone: 0,
        next: { gain: expect.closeTo(0.323, 2) },
      },
    });
    expect((await ports.store.versions({ limit: 1 })).latest).toBe(1);
  });

  it("under a stored version, in force or not", async () => {
    const version = await add(adaptivePolicy());
    expect(await explained({ request, history, version })).toMatchObject({
      revision: null,
      policyVersion: version,
      decision: { reason: "h3-faster" },
    });
    expect(await explained({ request, version: 0 })).toMatchObject({ policyVersion: 0, decision: { mode: "observe" } });
  });

  it("at the port that the question came to, unless told", async () => {
    expect(await explained({ request, history, policy: published })).toMatchObject({ altSvc: 'h3=":443"; ma=300' });
  });

  it("takes every fact that a line of the decision log has, and gives them back", async () => {
    const counted = { packets: 5000, lost: 250, bytes: 7e6, busyMs: 2000 };
    const read = { ...counted, ageMs: 1, rttMs: 50, deliveryRateBps: 25e6 };
    const facts = {
      ...request,
      deliveryRateBps: 1e6,
      path: "/a",
      asn: 64_500,
      country: "JP",
      offerUntilMs: 5,
      offering: true,
      answeredAtMs: 4,
      shareUnit: 0.5,
      modesElsewhere: ["fixed-h3"],
    };
    const known = {
      state: "known",
      connections: (["tcp", "quic"] as const).map((transport) => ({ ...read, transport })),
    };
    const told = await explained({
      request: { ...facts, pausedUntilMs: 0 },
      history: known,
      policy: published,
      nowMs: 9,
    });
    expect(told).toMatchObject({
      request: { ...facts, pausedUntilMs: 0 },
      history: known,
      altSvc: 'h3=":443"; ma=300',
      decision: { reason: "h3-faster" },
    });
    expect(
      await explained({ request: { ...facts, pausedUntilMs: 10 }, history: known, policy: published, nowMs: 9 }),
    ).toMatchObject({
      // Another path may have offered it.
      decision: { reason: "udp-blocked", advertise: { kind: "clear" } },
    });
  });

  it.each([
    [{ kind: "share", share: 0.6 }, "share", 'h3=":443"; ma=10'],
    [{ kind: "share", share: 0.4 }, "share", null],
    [{ kind: "rtt-threshold", rttMs: 50 }, "h3-faster", 'h3=":443"; ma=10'],
    [{ ...ZERO_LINES, unknown: "nothing" }, "not-measured", null],
    [{ ...ZERO_LINES, unknown: "h3" }, "not-measured", 'h3=":443"; ma=10'],
  ] as const)("by another method: %j", async (method, reason, altSvc) => {
    const asked = { request: { ...request, shareUnit: 0.5 }, policy: adaptivePolicy({ method }) };
    expect(await explained(asked)).toMatchObject({ altSvc, decision: { reason } });
  });

  it.each([
    [0.04, "exploration", 'h3=":443"; ma=100'],
    [0.96, "exploration", null],
    [0.5, "h2-faster", null],
    [undefined, "h2-faster", null],
  ])("with the unit %s drawn to explore", async (explorationUnit, reason, altSvc) => {
    const policy = adaptivePolicy({ exploration: { share: 0.1 } });
    const answer = await explained({ request, policy, explorationUnit });
    expect(answer).toMatchObject({ altSvc, decision: { reason } });
    expect(answer["undrawn"]).toEqual(reason === "exploration" ? { reason: "h2-faster", altSvc: null } : undefined);
  });

  it("at a time of its own", async () => {
    const facts = { ...request, offerUntilMs: 1000 };
    const policy = fixed("fixed-h2");
    expect(await explained({ request: facts, policy, nowMs: 999 })).toMatchObject({ altSvc: "clear" });
    expect(await explained({ request: facts, policy, nowMs: 1000 })).toMatchObject({ altSvc: null });
    expect(await explained({ request: facts, policy })).toMatchObject({ altSvc: null });
  });
});

describe("under what is in force", () => {
  it("the version is that of the path and of the unit", async () => {
    const [shop, some] = [await add(fixed("fixed-h3")), await add(fixed("observe"))];
    const stages = [
      { version: some, share: 0.05 },
      { version: shop, share: 1, pathPrefix: "/shop/" },
    ];
    await ports.store.change({ kind: "put", everyone: 1, stages }, by);
    const version = async (path: string, activationUnit?: number) =>
      (await explained({ request: { ...request, path }, activationUnit }))["policyVersion"];
    expect(await version("/")).toBe(1);
    expect(await version("/", 0.05)).toBe(1);
    expect(await version("/", 0.04)).toBe(some);
    expect(await version("/shop/1")).toBe(shop);
    expect(await version("/shop/1", 0.04)).toBe(some);
    // What the shop offers is taken back elsewhere, and the facts say why.
    expect(await explained({ request })).toMatchObject({
      altSvc: "clear",
      request: { modesElsewhere: ["fixed-h2", "observe", "fixed-h3"] },
    });
    expect(await explained({ request: { ...request, modesElsewhere: [] } })).toMatchObject({ altSvc: null });
  });

  it("offers of earlier revisions count, unless the facts tell otherwise", async () => {
    ports.earlierOffersUntilMs = NOON_MS + 1;
    expect(await explained({ request })).toMatchObject({
      altSvc: "clear",
      request: { earlierOffersUntilMs: NOON_MS + 1 },
    });
    expect(await explained({ request: { ...request, earlierOffersUntilMs: 0 } })).toMatchObject({ altSvc: null });
    // Of a policy that is not in force nothing is known to have been offered before.
    expect(await explained({ request, version: 1 })).toMatchObject({ altSvc: null });
  });

  it.each(["fixed-h2", "clear"] as const)(
    "the kill switch %s speaks, and not of a policy that is sent along",
    async (to) => {
      await ports.store.change({ kind: "kill-switch", to }, by);
      expect(await explained({ request })).toMatchObject({
        revision: 2,
        altSvc: to === "clear" ? "clear" : null,
        decision: { reason: "kill-switch", mode: "fixed-h2" },
      });
      expect(await explained({ request, policy: fixed("fixed-h3") })).toMatchObject({
        decision: { reason: "mode-fixed-h3" },
      });
      expect(await explained({ request, version: 1 })).toMatchObject({ decision: { reason: "mode-fixed-h2" } });
      // The switch is obeyed where the policy cannot be read, too.
      ports.store.unreadableVersions.add(1);
      expect(await explained({ request })).toMatchObject({ policyVersion: 1, decision: { reason: "kill-switch" } });
    },
  );

  it("what cannot be read is a 503", async () => {
    ports.store.unreadableVersions.add(1);
    const detail =
      "version 1 is in force and offers nothing, as it cannot be read any more. Send a policy along, or activate another version";
    const unreadable = await ask({ request });
    expect([unreadable.status, unreadable.json["detail"]]).toEqual([503, detail]);
    ports.store.unreadable = true;
    const none = await ask({ request });
    expect([none.status, none.json["detail"]]).toEqual([
      503,
      expect.stringMatching(/^the policy in force cannot be read\./),
    ]);
    expect((await ask({ request, policy: published })).status).toBe(200);
  });
});

describe("for a client", () => {
  const client = "192.0.2.7";
  const lossy = sample({ transport: "quic", rttMs: 40, packetsSent: 5000, packetsLost: 250, closing: true });
  const state = { connections: addSample([], lossy) };
  const offers = offersHeld({ untilMs: NOON_MS + 5000, answeredAtMs: NOON_MS - 1, offering: true });

  it("what is known of it is the history, and what it holds is among the facts", async () => {
    const version = await add(adaptivePolicy());
    await ports.store.change({ kind: "put", everyone: version, stages: [] }, by);
    ports.clients.known.set(client, { client: state, offers });
    ports.clients.ofUnits.set(client, { activation: 0.3, share: 0.7, exploration: 0.9 });
    expect(await explained({ client })).toMatchObject({
      request: {
        transport: "tcp",
        path: "/",
        offerUntilMs: NOON_MS + 5000,
        offering: true,
        answeredAtMs: NOON_MS - 1,
        pausedUntilMs: 0,
        shareUnit: 0.7,
      },
      history: {
        state: "known",
        connections: [{ transport: "quic", packets: 5000, lost: 250, ageMs: 0, rttMs: 40 }],
      },
      decision: { reason: "h3-faster", lossRatio: 0.05 },
    });
    expect(ports.clients.calls.toSorted()).toEqual([`look up ${client}`, `units ${client}`]);
    expect(await explained({ client, request: { transport: "quic", path: "/a", offering: false } })).toMatchObject({
      request: { transport: "quic", path: "/a", offering: false, offerUntilMs: NOON_MS + 5000 },
    });
  });

  it("that nobody knows: unknown", async () => {
    expect(await explained({ client, policy: adaptivePolicy() })).toMatchObject({
      history: { state: "unknown" },
      decision: { reason: "not-measured" },
    });
  });

  it("that ignores its offers: for as long as they pause", async () => {
    const ignoredAtMs = [30_000, 20_000, 10_000].map((ms) => NOON_MS - ms);
    ports.clients.known.set(client, { client: state, offers: { ...NO_OFFER, ignoredAtMs } });
    // Its last word over QUIC came later: UDP reaches it.
    expect(await explained({ client, policy: adaptivePolicy() })).toMatchObject({ request: { pausedUntilMs: 0 } });
    ports.clients.known.set(client, { offers: { ...NO_OFFER, ignoredAtMs } });
    expect(await explained({ client, policy: adaptivePolicy() })).toMatchObject({
      request: { pausedUntilMs: NOON_MS - 10_000 + 300_000 },
      decision: { reason: "udp-blocked" },
    });
  });

  it("its units choose the version and what is explored, unless the question tells others", async () => {
    const some = await add(adaptivePolicy({ exploration: { share: 1 } }));
    await ports.store.change({ kind: "put", everyone: 1, stages: [{ version: some, share: 0.05 }] }, by);
    ports.clients.ofUnits.set(client, { activation: 0.04, share: 0.5, exploration: 0.4 });
    expect(await explained({ client })).toMatchObject({ policyVersion: some, altSvc: 'h3=":443"; ma=100' });
    expect(await explained({ client, explorationUnit: 0.6 })).toMatchObject({ policyVersion: some, altSvc: null });
    expect(await explained({ client, activationUnit: 0.05 })).toMatchObject({ policyVersion: 1 });
  });

  it("an address of IPv6 too, and nothing else", async () => {
    await explained({ client: "2001:db8::1" });
    expect(ports.clients.calls).toContain("look up 2001:db8::1");
  });
});

describe("a question", () => {
  it.each<[object, string[]]>([
    [{ request: { transport: "sctp" } }, ['/request/transport: must be one of "tcp", "quic"']],
    [{ request: {} }, ['/request/transport: must be one of "tcp", "quic"']],
    [
      { request, history: { state: "known", connections: [{ transport: "tcp", lost: -1 }], network: [1] } },
      [
        "/history/connections/0/lost: must be at least 0",
        "/history/network: is not known here; known: state, connections",
      ],
    ],
    [{ request, history: {} }, ['/history/state: must be one of "known", "unknown", "late"']],
    [{ request: { ...request, shareUnit: 2 } }, ["/request/shareUnit: must be at most 1"]],
    [
      { request: { ...request, modesElsewhere: ["h3"] } },
      ['/request/modesElsewhere/0: must be one of "observe", "fixed-h2", "fixed-h3", "adaptive"'],
    ],
    [{ request, policy: { ...adaptivePolicy(), ma: 5 } }, ["/policy/ma: must be an object"]],
    [{ request, policy: null }, ["/policy: must be an object"]],
    [
      { request, policy: { ...adaptivePolicy(), method: { kind: "share", share: 2 } } },
      ["/policy/method/share: must be a number from 0 to 1"],
    ],
    [{ request, clients: "192.0.2.7" }, ["/clients: is not known here: client?"]],
    [{ client: "192.0.2" }, ["/client: must be an IPv4 or IPv6 address"]],
    [
      { request, version: -1, port: 0, nowMs: -1, explorationUnit: 2, activationUnit: -1 },
      [
        "/version: must be at least 0",
        "/nowMs: must be at least 0",
        "/explorationUnit: must be at most 1",
        "/activationUnit: must be at least 0",
        "/port: must be at least 1",
      ],
    ],
  ])("%j is refused with its faults", async (body, faults) => {
    const reply = await ask(body);
    expect([reply.status, faultsOf(reply)]).toEqual([400, faults]);
  });

  it.each<[string, object, string[]]>([
    ["of nothing", {}, ["/request: is missing: without a client there must be facts"]],
    ["of nobody", { history }, ["/request: is missing: without a client there must be facts"]],
    ["under two policies", { request, policy: published, version: 1 }, ["/version: does not go with policy"]],
    ["with two histories", { request, history, client: "192.0.2.7" }, ["/history: does not go with client"]],
    ["under a version that is not there", { request, version: 9 }, ["/version: is no known version"]],
    [
      "under a policy that does not hold together",
      { request, policy: { ...adaptivePolicy(), ma: { minS: 9, maxS: 5 } } },
      ["/policy/ma/minS: must not be larger than maxS"],
    ],
  ])("%s does not hold together", async (_name, body, faults) => {
    const reply = await ask(body);
    expect([reply.status, faultsOf(reply)]).toEqual([422, faults]);
  });

  it("under a version that cannot be read", async () => {
    ports.store.unreadableVersions.add(1);
    const reply = await ask({ request, version: 1 });
    expect([reply.status, faultsOf(reply)]).toEqual([422, ["/version: cannot be read any more"]]);
  });
});
