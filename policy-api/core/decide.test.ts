import { describe, expect, it } from "vitest";
import type { KillSwitch } from "./activation.ts";
import { decide, decideKilled } from "./decide.ts";
import type { TransportEstimate } from "./estimate.ts";
import type { History, RequestFacts } from "./facts.ts";
import type { Method, Mode, Policy } from "./policy.ts";
import { adaptivePolicy, LATTICE, NOON_MS } from "./testing.ts";
import type { TimesLattice } from "./times.ts";

const UNKNOWN: History = { state: "unknown" };
const LATE: History = { state: "late" };
const request = (over: Partial<RequestFacts> = {}): RequestFacts => ({
  transport: "tcp",
  path: "/",
  rttMs: 50,
  ...over,
});
const transport = (over: Partial<TransportEstimate> = {}): TransportEstimate => ({ packets: 1e6, ageMs: 0, ...over });
const client = (lossRatio: number, over: Partial<TransportEstimate> = {}): History => ({
  state: "known",
  client: { tcp: transport({ lossRatio, deliveryRateBps: 25e6, ...over }) },
});
const CLEAN = client(0);
const LOSSY = client(0.04);

/** The loss at which LATTICE predicts stay / switch, from 1/2 to 2. */
const lossFor = (ratio: number): number => 0.001 * (41 ** ((Math.log2(ratio) + 1) / 2) - 1);

/** The same times at all nodes: stay / switch and stay / cold. */
const flat = (switchRatio: number, coldRatio: number, se = 0): TimesLattice => ({
  rttMs: [0],
  lossRatio: [0],
  deliveryRateBps: [1e6],
  contentBytes: [1e6],
  stayMs: [1_000],
  switchMs: [1_000 / switchRatio],
  coldMs: [1_000 / coldRatio],
  switchSe: [se],
  coldSe: [se],
});

const adaptive = adaptivePolicy();
const h3First = adaptivePolicy({ coldStart: { advertise: "h3" } });
const by = (method: Method): Policy => adaptivePolicy({ method });
const h3 = (maS: number) => ({ kind: "h3", maS });
const nothing = { kind: "nothing" };
const clear = { kind: "clear" };
const until = (ms: number) => request({ offerUntilMs: NOON_MS + ms });
const offered = (over: Partial<RequestFacts> = {}) => request({ offerUntilMs: NOON_MS + 1, offering: true, ...over });
const onH3 = request({ transport: "quic" });

describe("decide", () => {
  const cases: [string, RequestFacts, History, Policy, object, string][] = [
    ["observe touches nothing", until(1), LOSSY, { ...adaptive, mode: "observe" }, nothing, "mode-observe"],
    ["observe takes nothing back", onH3, CLEAN, { ...adaptive, mode: "observe" }, nothing, "mode-observe"],
    ["fixed-h3 always offers", request(), UNKNOWN, { ...adaptive, mode: "fixed-h3" }, h3(100), "mode-fixed-h3"],
    ["fixed-h2 says nothing", request(), LOSSY, { ...adaptive, mode: "fixed-h2" }, nothing, "mode-fixed-h2"],
    ["fixed-h2 clears over h3", onH3, LOSSY, { ...adaptive, mode: "fixed-h2" }, clear, "mode-fixed-h2"],
    ["fixed-h2 clears a live offer", until(1), UNKNOWN, { ...adaptive, mode: "fixed-h2" }, clear, "mode-fixed-h2"],
    [
      "an offer that has ended needs none",
      until(0),
      UNKNOWN,
      { ...adaptive, mode: "fixed-h2" },
      nothing,
      "mode-fixed-h2",
    ],
    ["an unknown client: the cold start, nothing", request(), UNKNOWN, adaptive, nothing, "cold-start"],
    ["an unknown client: the cold start, h3", request(), UNKNOWN, h3First, h3(10), "cold-start"],
    ["an unknown client over h3: the cold start, clear", onH3, UNKNOWN, adaptive, clear, "cold-start"],
    ["a late look-up: the cold start", request(), LATE, h3First, h3(10), "cold-start"],
    ["no RTT at all: the cold start", request({ rttMs: undefined }), CLEAN, h3First, h3(10), "cold-start"],
    ["RTT 0 is not known", request({ rttMs: 0 }), LATE, adaptive, nothing, "cold-start"],
    ["a lossy client is offered HTTP/3", request(), LOSSY, adaptive, h3(100), "h3-faster"],
    ["a clean client is not", request(), CLEAN, adaptive, nothing, "h2-faster"],
    ["a clean client over h3 is taken back", onH3, CLEAN, adaptive, clear, "h2-faster"],
    ["a clean client with a live offer is taken back", until(1), CLEAN, adaptive, clear, "h2-faster"],
    [
      "a late look-up, of a connection that has shown its loss",
      request(),
      { ...LOSSY, state: "late" },
      adaptive,
      h3(100),
      "h3-faster",
    ],
    [
      "a memory of broken figures, whatever a cold start says",
      request(),
      client(Number.NaN),
      h3First,
      nothing,
      "cold-start",
    ],
    [
      "no method, which no stored policy lacks",
      request(),
      LOSSY,
      { ...adaptive, method: undefined },
      nothing,
      "cold-start",
    ],
  ];
  it.each(cases)("%s", (_name, facts, history, policy, advertise, reason) => {
    expect(decide(facts, history, policy, NOON_MS, 0.5)).toMatchObject({ advertise, reason, propensity: 1 });
  });

  it.each<[string, keyof History]>([
    ["a client", "client"],
    ["its network", "network"],
    ["its autonomous system", "asn"],
  ])("says on whose evidence it rests: %s", (_name, level) => {
    const history: History = { state: "known", [level]: { quic: transport({ lossRatio: 0.04 }) } };
    expect(decide(request(), history, adaptive, NOON_MS, 0.5)).toMatchObject({ advertise: h3(100), basis: level });
  });

  it("explains itself: path, times, saving and its uncertainty", () => {
    const decision = decide(request(), LOSSY, adaptive, NOON_MS, 0.5);
    expect(decision).toMatchObject({
      mode: "adaptive",
      basis: "client",
      path: { rttMs: 50, lossRatio: 0.04, deliveryRateBps: 25e6 },
      predicted: { contentBytes: 1_000_000, clamped: false },
    });
    expect(decision.saving).toBeCloseTo(1, 9);
    expect(decision.savingLow).toBeLessThan(1);
    expect(decision.savingLow).toBeGreaterThan(0.9);
    expect(decision.savingHigh).toBeGreaterThan(1);
  });

  it("compares with cold over HTTP/3, where the switch is paid", () => {
    const some = client(0.002);
    expect(decide(request(), some, adaptive, NOON_MS, 0.5)).toMatchObject({ advertise: nothing, reason: "h2-faster" });
    const overH3 = decide(onH3, some, adaptive, NOON_MS, 0.5);
    expect(overH3).toMatchObject({ advertise: { kind: "h3" }, reason: "h3-faster" });
    expect(overH3.saving).toBeCloseTo((overH3.predicted?.stayMs ?? 0) / (overH3.predicted?.coldMs ?? 1) - 1, 9);
  });

  it("takes the first rule that matches", () => {
    const policy = adaptivePolicy({
      rules: [
        { pathPrefix: "/live/", mode: "fixed-h2" },
        { asn: [64_500], country: ["JP"], mode: "fixed-h3" },
      ],
    });
    const reason = (over: Partial<RequestFacts>) => decide(request(over), CLEAN, policy, NOON_MS, 0.5).reason;
    expect(reason({ path: "/live/1" })).toBe("mode-fixed-h2");
    expect(reason({ asn: 64_500, country: "JP" })).toBe("mode-fixed-h3");
    expect(reason({ asn: 64_500, country: "DE" })).toBe("h2-faster");
    expect(reason({ asn: 64_500 })).toBe("h2-faster");
  });

  it("takes back where another rule of the policy may have offered: Alt-Svc speaks for the whole origin", () => {
    const advertise = (mode: Policy["mode"], other: Policy["mode"]) =>
      decide(request(), CLEAN, adaptivePolicy({ mode, rules: [{ pathPrefix: "/other/", mode: other }] }), NOON_MS, 0.5)
        .advertise;
    expect(advertise("adaptive", "fixed-h3")).toEqual(clear);
    expect(advertise("fixed-h2", "fixed-h3")).toEqual(clear);
    expect(advertise("fixed-h2", "adaptive")).toEqual(clear);
    expect(advertise("adaptive", "fixed-h2")).toEqual(nothing);
    expect(advertise("observe", "fixed-h3")).toEqual(nothing);
  });
});

describe("other policies in force on other paths of the origin", () => {
  const elsewhere = (...modesElsewhere: Mode[]) => request({ modesElsewhere });
  const fixedH2: Policy = { ...adaptive, mode: "fixed-h2" };
  const observed: Policy = { ...adaptive, mode: "observe" };
  const cases: [string, RequestFacts, History, Policy, object][] = [
    ["none: nothing to take back", elsewhere(), CLEAN, adaptive, nothing],
    ["those that offer nothing", elsewhere("observe", "fixed-h2"), CLEAN, adaptive, nothing],
    ["fixed-h3: what it offered to all is taken back", elsewhere("fixed-h3"), CLEAN, adaptive, clear],
    ["adaptive: what it offered is remembered of each client", elsewhere("adaptive"), CLEAN, adaptive, nothing],
    [
      "fixed-h2 looks nobody up, and takes back what adaptive may have offered",
      elsewhere("adaptive"),
      CLEAN,
      fixedH2,
      clear,
    ],
    ["and what fixed-h3 offered", elsewhere("fixed-h3"), CLEAN, fixedH2, clear],
    ["but not its own", elsewhere("fixed-h2"), CLEAN, fixedH2, nothing],
    ["observe takes nothing back", elsewhere("fixed-h3"), CLEAN, observed, nothing],
    ["an offer is an offer", elsewhere("fixed-h3", "fixed-h2"), LOSSY, adaptive, h3(100)],
    ["a cold start withholds alike", elsewhere("fixed-h3"), UNKNOWN, adaptive, clear],
  ];
  it.each(cases)("%s", (_name, facts, history, policy, advertise) => {
    expect(decide(facts, history, policy, NOON_MS, 0.5).advertise).toEqual(advertise);
  });

  it("whoever is drawn to none is taken back too", () => {
    const policy = adaptivePolicy({ exploration: { share: 1 } });
    expect(decide(elsewhere("fixed-h3"), LOSSY, policy, NOON_MS, 0.9)).toMatchObject({
      advertise: clear,
      reason: "exploration",
    });
  });
});

describe("decideKilled", () => {
  const cases: [string, KillSwitch, RequestFacts, object][] = [
    ["nothing is offered", "fixed-h2", request(), nothing],
    ["over HTTP/3 it is taken back", "fixed-h2", onH3, clear],
    ["what may still be held is taken back", "fixed-h2", until(1), clear],
    ["until it has ended", "fixed-h2", until(0), nothing],
    ["clear takes back where nothing should be held", "clear", request(), clear],
    ["clear takes back over HTTP/3", "clear", onH3, clear],
    ["clear takes back what has ended", "clear", until(0), clear],
  ];
  it.each(cases)("%s", (_name, killSwitch, facts, advertise) => {
    expect(decideKilled(killSwitch, facts, NOON_MS)).toEqual({
      advertise,
      mode: "fixed-h2",
      reason: "kill-switch",
      propensity: 1,
    });
  });
});

describe("hysteresis", () => {
  const policy = adaptivePolicy({ margin: { enter: 0.1, leave: 0.02, standardErrors: 1 } });
  const cases: [string, RequestFacts, number, object, string][] = [
    ["an offer begins above enter", request(), 1.12, h3(100), "h3-faster"],
    ["and not below it", request(), 1.08, nothing, "within-margin"],
    ["it goes on below enter", offered(), 1.08, h3(100), "h3-faster"],
    ["down to leave", offered(), 1.03, h3(100), "h3-faster"],
    ["and ends there", offered(), 1.01, clear, "within-margin"],
    ["where HTTP/2 is faster too", offered(), 0.98, clear, "h2-faster"],
    ["an offer of another policy has not begun here", until(1), 1.08, clear, "within-margin"],
    ["one that has run out begins anew", offered({ offerUntilMs: NOON_MS }), 1.08, nothing, "within-margin"],
  ];
  it.each(cases)("%s", (_name, facts, ratio, advertise, reason) => {
    expect(decide(facts, client(lossFor(ratio)), policy, NOON_MS, 0.5)).toMatchObject({ advertise, reason });
  });

  it("in a cold start alike", () => {
    const cold = (ratio: number): Policy => ({
      ...policy,
      coldStart: { advertise: "nothing", times: flat(ratio, ratio) },
    });
    const kind = (facts: RequestFacts, ratio: number) =>
      decide(facts, UNKNOWN, cold(ratio), NOON_MS, 0.5).advertise.kind;
    expect(kind(request(), 1.12)).toBe("h3");
    expect(kind(request(), 1.08)).toBe("nothing");
    expect(kind(offered(), 1.08)).toBe("h3");
    expect(kind(offered(), 1.01)).toBe("clear");
    expect(kind(offered({ offerUntilMs: NOON_MS }), 1.08)).toBe("nothing");
    expect(kind(onH3, 1.03)).toBe("h3");
  });
});

describe("caution", () => {
  const margin = (standardErrors: number): Policy =>
    adaptivePolicy({ margin: { enter: 0.05, leave: 0, standardErrors } });
  const cases: [string, number, Partial<TransportEstimate>, number, string][] = [
    ["much evidence of a saving", 1.5, {}, 1, "h3-faster"],
    ["thin evidence of a small one", 1.2, { packets: 100 }, 1, "within-margin"],
    ["which a policy without caution takes as it is", 1.2, { packets: 100 }, 0, "h3-faster"],
    ["thin evidence of a large saving", 2, { packets: 100 }, 1, "h3-faster"],
    ["which a very cautious policy does not believe", 2, { packets: 100 }, 3, "within-margin"],
    ["HTTP/2 is expected to be faster, however uncertain", 0.9, { packets: 10 }, 0, "h2-faster"],
  ];
  it.each(cases)("%s", (_name, ratio, evidence, standardErrors, reason) => {
    const history = client(lossFor(ratio), evidence);
    expect(decide(request(), history, margin(standardErrors), NOON_MS, 0.5).reason).toBe(reason);
  });

  it("what is certain of a transport outweighs a handshake of the other", () => {
    const history: History = {
      state: "known",
      client: { tcp: transport({ lossRatio: 0, packets: 12 }), quic: transport({ lossRatio: 0.04 }) },
    };
    for (const standardErrors of [0, 1])
      expect(decide(request(), history, margin(standardErrors), NOON_MS, 0.5).reason).toBe("h3-faster");
  });

  it("an offer that stands is not taken back for thin evidence", () => {
    const thin = client(lossFor(1.5), { packets: 20 });
    expect(decide(offered(), thin, margin(3), NOON_MS, 0.5)).toMatchObject({ reason: "h3-faster" });
  });
});

describe("what sessions transfer", () => {
  const bySize: TimesLattice = {
    ...flat(1, 1),
    contentBytes: [1e4, 1e6],
    stayMs: [100, 1_000],
    switchMs: [200, 500],
    coldMs: [100, 500],
    switchSe: [0, 0],
    coldSe: [0, 0],
  };
  const policy = adaptivePolicy({
    method: { kind: "times", tcp: bySize },
    contentBytes: {
      default: 1e4,
      routes: [
        { pathPrefix: "/video/short/", bytes: 2e4 },
        { pathPrefix: "/video/", bytes: 1e6 },
      ],
    },
  });
  it.each([
    ["/", 1e4, "h2-faster"],
    ["/video/1", 1e6, "h3-faster"],
    ["/video/short/1", 2e4, "h2-faster"],
    ["/videos", 1e4, "h2-faster"],
  ])("a session that begins with %s: %i bytes, %s", (path, contentBytes, reason) => {
    expect(decide(request({ path }), CLEAN, policy, NOON_MS, 0.5)).toMatchObject({
      reason,
      predicted: { contentBytes },
    });
  });

  it("in a cold start too", () => {
    const cold: Policy = { ...policy, coldStart: { advertise: "nothing", times: bySize } };
    const kind = (path: string) => decide(request({ path }), UNKNOWN, cold, NOON_MS, 0.5).advertise.kind;
    expect([kind("/"), kind("/video/1")]).toEqual(["nothing", "h3"]);
  });
});

describe("a cold start with times", () => {
  /** At a long RTT HTTP/3 saves a long round trip. */
  const mix: TimesLattice = {
    ...LATTICE,
    lossRatio: [0.01],
    stayMs: [100, 800],
    switchMs: [200, 400],
    coldMs: [125, 200],
  };
  const policy = adaptivePolicy({ coldStart: { advertise: "nothing", mix: "half of them lossy", times: mix } });
  const cases: [string, RequestFacts, History, object, number | undefined][] = [
    ["near", request({ rttMs: 1 }), UNKNOWN, nothing, 1],
    ["far away", request({ rttMs: 90 }), UNKNOWN, h3(10), 90],
    ["far away, and nobody answered in time", request({ rttMs: 90 }), LATE, h3(10), 90],
    ["near, over HTTP/3: taken back", request({ transport: "quic", rttMs: 0.1 }), UNKNOWN, clear, 0.1],
    ["half way, over HTTP/3: the switch is paid for", request({ transport: "quic", rttMs: 9 }), UNKNOWN, h3(10), 9],
    ["half way", request({ rttMs: 9 }), UNKNOWN, nothing, 9],
    ["no RTT: as the policy says", request({ rttMs: undefined }), UNKNOWN, nothing, undefined],
  ];
  it.each(cases)("%s", (_name, facts, history, advertise, rttMs) => {
    const decision = decide(facts, history, policy, NOON_MS, 0.5);
    expect(decision).toMatchObject({ advertise, reason: "cold-start", propensity: 1 });
    expect(decision.basis).toBe(rttMs === undefined ? undefined : "prior");
    expect(decision.predicted === undefined).toBe(rttMs === undefined);
    expect(decision.path).toBeUndefined();
  });

  it("the policy's word counts only where there is no RTT", () => {
    const insists: Policy = { ...policy, coldStart: { ...policy.coldStart, advertise: "h3" } };
    expect(decide(request({ rttMs: 1 }), UNKNOWN, insists, NOON_MS, 0.5).advertise).toEqual(nothing);
    expect(decide(request({ rttMs: undefined }), UNKNOWN, insists, NOON_MS, 0.5).advertise).toEqual(h3(10));
  });

  it("is for clients of whom nothing is known", () => {
    expect(decide(request({ rttMs: 1 }), LOSSY, policy, NOON_MS, 0.5)).toMatchObject({
      reason: "h3-faster",
      basis: "client",
    });
  });
});

describe("an offer's life", () => {
  const ma = (coldRatio: number, se = 0, over: Partial<TransportEstimate> = {}) =>
    decide(
      request(),
      client(0.01, over),
      adaptivePolicy({ method: { kind: "times", tcp: flat(10, coldRatio, se) } }),
      NOON_MS,
      0.5,
    ).advertise;
  it.each([
    ["no cold saving: the shortest", 1, 0, 10],
    ["cold costs: the shortest", 0.5, 0, 10],
    ["a saving of 25 %: the longest", 1.25, 0, 100],
    ["more: no longer", 8, 0, 100],
    ["half of it, in the logarithm: half way, in the logarithm", Math.sqrt(1.25), 0, 32],
    ["only what is certain counts", 1.25 * Math.exp(0.1), 0.1, 100],
    ["half of it certain", 1.25, Math.log(1.25) / 2, 32],
    ["none of it certain", 1.25, 0.5, 10],
  ])("%s", (_name, coldRatio, se, maS) => {
    expect(ma(coldRatio, se)).toEqual(h3(maS));
  });

  it.each([
    ["just now", 0, 10],
    ["less than ten minutes ago", 599_999, 10],
    ["ten minutes ago", 600_000, 100],
    ["never", undefined, 100],
  ])("on a path that changed %s", (_name, changedMsAgo, maS) => {
    expect(ma(8, 0, changedMsAgo === undefined ? {} : { changedMsAgo })).toEqual(h3(maS));
  });
});

describe("offers that pause", () => {
  const pausedUntilMs = NOON_MS + 1;
  const cases: [string, RequestFacts, History, object, string][] = [
    ["to a client that ignores them", request({ pausedUntilMs }), LOSSY, nothing, "udp-blocked"],
    ["one that is still alive is taken back", offered({ pausedUntilMs }), LOSSY, clear, "udp-blocked"],
    ["to one of whom nothing is known", request({ pausedUntilMs }), UNKNOWN, nothing, "udp-blocked"],
    ["not to one that comes over HTTP/3", { ...onH3, pausedUntilMs }, LOSSY, h3(100), "h3-faster"],
    ["not when the pause is over", request({ pausedUntilMs: NOON_MS }), LOSSY, h3(100), "h3-faster"],
  ];
  it.each(cases)("%s", (_name, facts, history, advertise, reason) => {
    expect(decide(facts, history, h3First, NOON_MS, 0.5)).toMatchObject({ advertise, reason, propensity: 1 });
  });

  it("whatever the method, and are not explored", () => {
    const methods: Method[] = [
      { kind: "share", share: 1 },
      { kind: "rtt-threshold", rttMs: 0 },
      { kind: "zero-lines", lines: [{ deliveryRateBps: 1, rttMs: [0], lossRatio: [0] }] },
    ];
    for (const method of methods) {
      const policy = adaptivePolicy({ method, exploration: { share: 1 } });
      const facts = request({ pausedUntilMs, shareUnit: 0 });
      expect(decide(facts, LOSSY, policy, NOON_MS, 0)).toMatchObject({ reason: "udp-blocked", propensity: 1 });
    }
  });
});

describe("other methods", () => {
  const line = by({ kind: "zero-lines", lines: [{ deliveryRateBps: 25e6, rttMs: [0, 100], lossRatio: [0.1, 0.02] }] });
  const threshold = by({ kind: "rtt-threshold", rttMs: 50 });
  const share = by({ kind: "share", share: 0.3 });
  const network: History = { state: "known", network: { tcp: transport({ lossRatio: 0.07 }) } };
  const cases: [string, Policy, RequestFacts, History, object, string][] = [
    ["zero-lines: beyond the line", line, request(), client(0.061), h3(100), "h3-faster"],
    ["zero-lines: this side of it", line, request(), client(0.059), nothing, "h2-faster"],
    ["zero-lines: over HTTP/3 alike", line, onH3, client(0.059), clear, "h2-faster"],
    ["zero-lines: a network's word makes a short offer", line, request(), network, h3(10), "h3-faster"],
    ["zero-lines: an unknown client", line, request(), UNKNOWN, nothing, "cold-start"],
    ["zero-lines: no RTT", line, request({ rttMs: undefined }), client(0.5), nothing, "cold-start"],
    ["rtt-threshold: from it on", threshold, request(), CLEAN, h3(100), "h3-faster"],
    ["rtt-threshold: below", threshold, request({ rttMs: 49.9 }), LOSSY, nothing, "h2-faster"],
    ["rtt-threshold: wants no memory", threshold, request(), UNKNOWN, h3(10), "h3-faster"],
    [
      "rtt-threshold: a remembered RTT will do",
      threshold,
      request({ rttMs: undefined }),
      client(0, { minRttMs: 60 }),
      h3(100),
      "h3-faster",
    ],
    ["rtt-threshold: none at all", threshold, request({ rttMs: undefined }), UNKNOWN, nothing, "cold-start"],
    ["share: in it", share, request({ shareUnit: 0.29 }), CLEAN, h3(10), "share"],
    ["share: outside", share, request({ shareUnit: 0.3 }), LOSSY, nothing, "share"],
    ["share: outside, over HTTP/3", share, { ...onH3, shareUnit: 0.3 }, LOSSY, clear, "share"],
    ["share: all of them, named or not", by({ kind: "share", share: 1 }), request(), LOSSY, h3(10), "share"],
    ["share: a client that has no name is in none", share, request(), LOSSY, nothing, "share"],
  ];
  it.each(cases)("%s", (_name, policy, facts, history, advertise, reason) => {
    expect(decide(facts, history, policy, NOON_MS, 0.5)).toMatchObject({ advertise, reason, propensity: 1 });
  });

  it.each([
    [0, "h3-faster"],
    [9, "h3-faster"],
    [10, "h2-faster"],
  ])("times, where a switch costs %i round trips on top of a cold session", (switchRoundTrips, reason) => {
    // Staying takes 1,000 ms, a cold session half of that, and a round trip 50 ms. The measured switch does not count.
    const policy = by({ kind: "times", tcp: flat(1 / 8, 2), switchRoundTrips });
    expect(decide(request(), LOSSY, policy, NOON_MS, 0.5).reason).toBe(reason);
  });
});

describe("exploration", () => {
  const policy = adaptivePolicy({ exploration: { share: 0.1 } });
  const at = (history: History, unit: number | undefined) => decide(request(), history, policy, NOON_MS, unit);
  const cases: [string, History, number | undefined, object, string, number][] = [
    ["drawn to an offer", CLEAN, 0.04, h3(10), "exploration", 0.05],
    ["drawn to none", CLEAN, 0.09, nothing, "exploration", 0.95],
    ["not drawn", CLEAN, 0.5, nothing, "h2-faster", 0.95],
    ["drawn to the offer that was predicted", LOSSY, 0.04, h3(10), "exploration", 0.95],
    ["drawn to none against the prediction", LOSSY, 0.09, nothing, "exploration", 0.05],
    ["no unit could be drawn", CLEAN, undefined, nothing, "h2-faster", 1],
  ];
  it.each(cases)("half of a share each way, with its probability: %s", (_name, history, unit, advertise, reason, p) => {
    const decision = at(history, unit);
    expect(decision).toMatchObject({ advertise, reason });
    expect(decision.propensity).toBeCloseTo(p, 12);
  });

  it("keeps the prediction that it goes against", () => {
    expect(at(LOSSY, 0.09).saving).toBeCloseTo(1, 9);
  });
});
