import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Stage } from "../decision/activation.ts";
import { altSvcValue } from "../decision/alt-svc.ts";
import { decide } from "../decision/decide.ts";
import type { History, RequestFacts } from "../decision/facts.ts";
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import { adaptivePolicy, NOON_MS } from "../decision/testing.ts";
import { callApi, faultsOf, type TestPorts, testPorts, TOKENS } from "./testing.ts";

let ports: TestPorts;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON_MS });
  ports = await testPorts();
});
afterEach(() => {
  vi.useRealTimers();
});

const fixed = (mode: Policy["mode"]): Policy => ({ ...INITIAL_POLICY, mode, source: `all ${mode}` });
/** Puts policies in force: the first for everyone, the others as stages. */
async function activate(policy: Policy, ...stages: (Omit<Stage, "version"> & { policy: Policy })[]): Promise<number> {
  const versionOf = async (one: Policy): Promise<number> => {
    const created = await ports.store.create({ policy: one, author: "setup", note: null });
    return created.kind === "created" ? created.version.version : -1;
  };
  const everyone = await versionOf(policy);
  const staged: Stage[] = [];
  for (const { policy: one, ...stage } of stages) staged.push({ ...stage, version: await versionOf(one) });
  const by = { author: "setup", note: null, ifMatch: "*" as const };
  await ports.store.change({ kind: "put", everyone, stages: staged }, by);
  return everyone;
}
const ask = (body: object) => callApi(ports, "POST", "decisions", { body, token: TOKENS.read });
async function answers(...paths: object[]): Promise<Record<string, unknown>[]> {
  const reply = await ask({ paths });
  expect([reply.status, faultsOf(reply)]).toEqual([200, []]);
  return reply.json["decisions"] as Record<string, unknown>[];
}

describe("decisions", () => {
  it("are of the policy in force, in the order of the paths, with its revision", async () => {
    await activate(adaptivePolicy());
    const reply = await ask({
      paths: [
        { transport: "tcp", rttMs: 50, lossRatio: 0.04, deliveryRateBps: 25e6 },
        { transport: "tcp", rttMs: 50, lossRatio: 0 },
        { transport: "quic", rttMs: 50, lossRatio: 0 },
        { transport: "tcp", rttMs: 50 },
      ],
      port: 8443,
    });
    expect(reply.json).toMatchObject({
      revision: 2,
      decisions: [
        {
          altSvc: 'h3=":8443"; ma=100',
          maS: 100,
          reason: "h3-faster",
          policyVersion: 2,
          mode: "adaptive",
          lossRatio: 0.04,
        },
        { altSvc: null, maS: null, reason: "h2-faster", propensity: 1 },
        { altSvc: "clear", maS: null, reason: "h2-faster" },
        { altSvc: null, maS: null, reason: "h2-faster", quicAlone: 0 },
      ],
    });
  });

  const toAnybody = adaptivePolicy({ margin: { enter: -1, leave: -1 } });
  const cases: [string, Policy, object, RequestFacts, History][] = [
    [
      "a lossy path",
      adaptivePolicy(),
      { transport: "tcp", rttMs: 60, lossRatio: 0.03, packets: 700, deliveryRateBps: 25e6 },
      { transport: "tcp", path: "/", rttMs: 60, deliveryRateBps: 25e6 },
      {
        state: "known",
        connections: [{ transport: "tcp", packets: 700, lost: 21, ageMs: 0, rttMs: 60, deliveryRateBps: 25e6 }],
      },
    ],
    [
      "a thousand packets unless told",
      adaptivePolicy(),
      { transport: "quic", rttMs: 60, lossRatio: 0.01 },
      { transport: "quic", path: "/", rttMs: 60 },
      { state: "known", connections: [{ transport: "quic", packets: 1000, lost: 10, ageMs: 0, rttMs: 60 }] },
    ],
    ["nothing but a transport", toAnybody, { transport: "tcp" }, { transport: "tcp", path: "/" }, { state: "unknown" }],
    [
      "evidence of no loss is none",
      toAnybody,
      { transport: "tcp", rttMs: 60, packets: 5000 },
      { transport: "tcp", path: "/", rttMs: 60 },
      { state: "unknown" },
    ],
    [
      "rules",
      adaptivePolicy({ rules: [{ pathPrefix: "/live/", asn: [64_500], country: ["JP"], mode: "fixed-h3" }] }),
      { transport: "tcp", path: "/live/1", asn: 64_500, country: "JP" },
      { transport: "tcp", path: "/live/1", asn: 64_500, country: "JP" },
      { state: "unknown" },
    ],
    [
      "an offer that lives, and goes on where none would begin",
      adaptivePolicy({ margin: { enter: 10, leave: -0.9 } }),
      { transport: "tcp", rttMs: 60, lossRatio: 0.01, offeredUntil: new Date(NOON_MS + 1000).toISOString() },
      { transport: "tcp", path: "/", rttMs: 60, offerUntilMs: NOON_MS + 1000, offering: true },
      { state: "known", connections: [{ transport: "tcp", packets: 1000, lost: 10, ageMs: 0, rttMs: 60 }] },
    ],
    [
      "an offer that has ended, told in another zone",
      fixed("fixed-h2"),
      { transport: "tcp", offeredUntil: "2025-12-31T23:00:00+09:00" },
      { transport: "tcp", path: "/", offerUntilMs: Date.parse("2025-12-31T14:00:00Z"), offering: false },
      { state: "unknown" },
    ],
  ];
  it.each(cases)("are what core decides: %s", async (_name, policy, facts, request, history) => {
    const version = await activate(policy);
    const [answer] = await answers(facts);
    const { advertise, ...explained } = decide(request, history, policy, NOON_MS, undefined);
    expect(answer).toEqual({
      altSvc: altSvcValue(advertise, 443) ?? null,
      maS: advertise.kind === "h3" ? advertise.maS : null,
      policyVersion: version,
      ...explained,
    });
  });

  it("take back what earlier revisions may have offered", async () => {
    await activate(fixed("fixed-h2"));
    ports.earlierOffersUntilMs = NOON_MS + 1;
    expect(await answers({ transport: "tcp" })).toMatchObject([{ altSvc: "clear" }]);
    ports.earlierOffersUntilMs = NOON_MS;
    expect(await answers({ transport: "tcp" })).toMatchObject([{ altSvc: null }]);
  });

  it("hold the same clients in shares as the worker does: by the address's units", async () => {
    await activate(adaptivePolicy({ method: { kind: "share", share: 0.5 }, exploration: { share: 0.2 } }), {
      policy: fixed("fixed-h3"),
      share: 0.05,
    });
    ports.clients.ofUnits.set("192.0.2.1", { activation: 0.049, share: 0.9, exploration: 0.5 });
    ports.clients.ofUnits.set("192.0.2.2", { activation: 0.05, share: 0.49, exploration: 0.5 });
    ports.clients.ofUnits.set("192.0.2.3", { activation: 0.9, share: 0.5, exploration: 0.5 });
    ports.clients.ofUnits.set("2001:db8::1", { activation: 0.9, share: 0.9, exploration: 0.05 });
    const asked = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1"];
    const told = await answers(...asked.map((clientAddress) => ({ transport: "tcp", clientAddress })), {
      transport: "tcp",
    });
    expect(told).toMatchObject([
      { policyVersion: 3, reason: "mode-fixed-h3", propensity: 1 },
      { policyVersion: 2, reason: "share", altSvc: 'h3=":443"; ma=10', propensity: 0.9 },
      { policyVersion: 2, reason: "share", altSvc: null },
      { policyVersion: 2, reason: "exploration", altSvc: 'h3=":443"; ma=100' },
      // Nobody: in no share, and not explored.
      { policyVersion: 2, reason: "share", altSvc: null, propensity: 1 },
    ]);
    // Hashed, and nothing is looked up.
    expect(ports.clients.calls.toSorted()).toEqual(asked.map((address) => `units ${address}`).toSorted());
  });

  it("go by the path's version, and know of the others", async () => {
    await activate(fixed("fixed-h2"), { policy: fixed("fixed-h3"), share: 1, pathPrefix: "/shop/" });
    expect(await answers({ transport: "tcp", path: "/shop/1" }, { transport: "tcp", path: "/shop" })).toMatchObject([
      { policyVersion: 3, altSvc: 'h3=":443"; ma=3600' },
      // What the shop offers holds for the whole origin.
      { policyVersion: 1 + 1, altSvc: "clear" },
    ]);
  });

  it.each([
    ["fixed-h2", "tcp", 0, null],
    ["fixed-h2", "tcp", 1, "clear"],
    ["fixed-h2", "quic", 0, "clear"],
    ["clear", "tcp", 0, "clear"],
  ] as const)("under the kill switch %s, over %s: %i, %s", async (kind, transport, livesMs, altSvc) => {
    const version = await activate(fixed("fixed-h3"));
    // Which policy would speak does not count, nor whether it can be read.
    ports.store.unreadableVersions.add(version);
    await ports.store.change({ kind: "kill-switch", to: kind }, { author: "a", note: null, ifMatch: "*" });
    ports.earlierOffersUntilMs = NOON_MS + livesMs;
    expect(await answers({ transport })).toEqual([
      { altSvc, maS: null, mode: "fixed-h2", reason: "kill-switch", policyVersion: version, propensity: 1 },
    ]);
  });

  it("where there is no policy, or none that can be read: 503", async () => {
    const version = await activate(fixed("fixed-h3"), { policy: fixed("observe"), share: 1, pathPrefix: "/a" });
    ports.store.unreadableVersions.add(version);
    const some = await ask({ paths: [{ transport: "tcp", path: "/a" }] });
    expect([some.status, some.json["decisions"]]).toEqual([200, [expect.objectContaining({ mode: "observe" })]]);
    const other = await ask({ paths: [{ transport: "tcp", path: "/a" }, { transport: "tcp" }] });
    expect([other.status, other.json["detail"]]).toEqual([
      503,
      `version ${version} is in force and offers nothing, as it cannot be read any more`,
    ]);
    ports.store.unreadable = true;
    const none = await ask({ paths: [{ transport: "tcp" }] });
    expect([none.status, none.json["detail"]]).toEqual([503, "there is no policy that can be read"]);
  });

  it("of up to a hundred paths", async () => {
    const many = (count: number) => ask({ paths: Array.from({ length: count }, () => ({ transport: "tcp" })) });
    expect(((await many(100)).json["decisions"] as unknown[]).length).toBe(100);
    expect(faultsOf(await many(101))).toEqual(["/paths: must have at most 100 items"]);
    expect(faultsOf(await many(0))).toEqual(["/paths: must have at least 1 item"]);
  });

  const one = (over: object) => ({ paths: [{ transport: "tcp", ...over }] });
  it.each<[object, string[]]>([
    [{}, ["/paths: is missing"]],
    [{ paths: {} }, ["/paths: must be a list"]],
    [{ paths: [null] }, ["/paths/0: must be an object"]],
    [{ paths: [{}] }, ['/paths/0/transport: must be one of "tcp", "quic"']],
    [one({ transport: "h3" }), ['/paths/0/transport: must be one of "tcp", "quic"']],
    [
      one({ rtt: 5 }),
      [
        "/paths/0/rtt: is not known here; known: transport, rttMs, deliveryRateBps, path, asn, country, lossRatio, packets, clientAddress, offeredUntil",
      ],
    ],
    [one({ rtMs: 5 }), ["/paths/0/rtMs: is not known here: rttMs?"]],
    [
      one({ rttMs: -1, lossRatio: 1.1, packets: -1 }),
      [
        "/paths/0/rttMs: must be at least 0",
        "/paths/0/lossRatio: must be at most 1",
        "/paths/0/packets: must be at least 0",
      ],
    ],
    [
      one({ rttMs: "50", deliveryRateBps: null }),
      ["/paths/0/rttMs: must be a number", "/paths/0/deliveryRateBps: must be a number"],
    ],
    [one({ path: "shop" }), ["/paths/0/path: must begin with /"]],
    [
      one({ asn: 1.5, country: "jp" }),
      ["/paths/0/asn: must be a whole number", "/paths/0/country: must be a country code such as JP"],
    ],
    [one({ clientAddress: "localhost" }), ["/paths/0/clientAddress: must be an IPv4 or IPv6 address"]],
    [one({ clientAddress: "192.0.2.7/24" }), ["/paths/0/clientAddress: must be an IPv4 or IPv6 address"]],
    [one({ offeredUntil: "tomorrow" }), ["/paths/0/offeredUntil: must be a time such as 2026-11-21T10:00:00Z"]],
    [one({ offeredUntil: 5 }), ["/paths/0/offeredUntil: must be text"]],
    [{ ...one({}), port: 0 }, ["/port: must be at least 1"]],
    [{ ...one({}), port: 65_536 }, ["/port: must be at most 65535"]],
  ])("%j is refused with its faults", async (body, faults) => {
    const reply = await ask(body);
    expect([reply.status, faultsOf(reply)]).toEqual([400, faults]);
  });
});
