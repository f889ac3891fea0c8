import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "./decide.ts";
import type { TransportEstimate } from "./estimate.ts";
import type { History, RequestFacts } from "./facts.ts";
import { INITIAL_POLICY, MODES, type Policy } from "./policy.ts";
import { adaptivePolicy, NOON_MS } from "./testing.ts";

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

const adaptive = adaptivePolicy();
const h2First = adaptivePolicy({ coldStart: { ...INITIAL_POLICY.coldStart, advertise: "nothing" } });
const h3 = (maS: number) => ({ kind: "h3", maS });
const nothing = { kind: "nothing" };
const clear = { kind: "clear" };
const until = (ms: number) => request({ offerUntilMs: NOON_MS + ms });
const onH3 = request({ transport: "quic" });

describe("decide", () => {
  const cases: [string, RequestFacts, History, Policy, object, string][] = [
    ["observe touches nothing", until(1), LOSSY, { ...adaptive, mode: "observe" }, nothing, "mode-observe"],
    ["observe takes nothing back", onH3, CLEAN, { ...adaptive, mode: "observe" }, nothing, "mode-observe"],
    ["fixed-h3 always offers", request(), UNKNOWN, { ...adaptive, mode: "fixed-h3" }, h3(100), "mode-fixed-h3"],
    ["fixed-h2 says nothing", request(), LOSSY, { ...adaptive, mode: "fixed-h2" }, nothing, "mode-fixed-h2"],
    ["fixed-h2 clears over h3", onH3, LOSSY, { ...adaptive, mode: "fixed-h2" }, clear, "mode-fixed-h2"],
    [
      "fixed-h2 clears a live offer over h2",
      until(1),
      UNKNOWN,
      { ...adaptive, mode: "fixed-h2" },
      clear,
      "mode-fixed-h2",
    ],
    [
      "an offer that has ended needs no clear",
      until(0),
      UNKNOWN,
      { ...adaptive, mode: "fixed-h2" },
      nothing,
      "mode-fixed-h2",
    ],
    ["an unknown client: the cold start, h3", request(), UNKNOWN, adaptive, h3(10), "cold-start"],
    ["an unknown client: the cold start, nothing", request(), UNKNOWN, h2First, nothing, "cold-start"],
    ["an unknown client over h3: the cold start, clear", onH3, UNKNOWN, h2First, clear, "cold-start"],
    ["a lossy client is offered HTTP/3", request(), LOSSY, adaptive, h3(100), "h3-faster"],
    ["a clean client is not", request(), CLEAN, adaptive, nothing, "h2-faster"],
    ["a clean client over h3 is taken back", onH3, CLEAN, adaptive, clear, "h2-faster"],
    ["a clean client with a live offer is taken back", until(1), CLEAN, adaptive, clear, "h2-faster"],
    ["a late look-up: this connection's RTT and the prior's loss", request(), LATE, adaptive, nothing, "h2-faster"],
    [
      "a late look-up, a lossy prior",
      request(),
      LATE,
      adaptivePolicy({ coldStart: { advertise: "nothing", lossRatio: 0.04, deliveryRateBps: 25e6 } }),
      h3(10),
      "h3-faster",
    ],
    [
      "a late look-up and no RTT: the cold start",
      { transport: "tcp", path: "/" },
      LATE,
      h2First,
      nothing,
      "cold-start",
    ],
    ["RTT 0 is not known", request({ rttMs: 0 }), LATE, h2First, nothing, "cold-start"],
    [
      "the network speaks for a client never seen, with a short offer",
      request(),
      { state: "known", network: { quic: transport({ lossRatio: 0.04 }) } },
      adaptive,
      h3(10),
      "h3-faster",
    ],
    [
      "thin evidence of loss is drawn to the prior",
      request(),
      client(0.04, { packets: 5 }),
      adaptive,
      nothing,
      "h2-faster",
    ],
    [
      "the transport with more evidence speaks on loss",
      request(),
      {
        state: "known",
        client: { tcp: transport({ lossRatio: 0, packets: 200 }), quic: transport({ lossRatio: 0.04 }) },
      },
      adaptive,
      h3(100),
      "h3-faster",
    ],
  ];
  it.each(cases)("%s", (_name, facts, history, policy, advertise, reason) => {
    expect(decide(facts, history, policy, NOON_MS, 0.5)).toMatchObject({ advertise, reason, propensity: 1 });
  });

  it("enters above one margin and leaves below another", () => {
    // At 2 % and 50 ms stay equals switch; at 2.2 % staying takes 7 % longer.
    const policy = adaptivePolicy({ margin: { enter: 0.1, leave: 0 } });
    const edge = client(0.022);
    expect(decide(request(), edge, policy, NOON_MS, 0.5)).toMatchObject({
      advertise: nothing,
      reason: "within-margin",
    });
    const offering = { ...until(1), offering: true };
    expect(decide(offering, edge, policy, NOON_MS, 0.5)).toMatchObject({ advertise: h3(100), reason: "h3-faster" });
    expect(decide(until(1), edge, policy, NOON_MS, 0.5)).toMatchObject({ advertise: clear, reason: "within-margin" });
    expect(decide(offering, client(0.018), policy, NOON_MS, 0.5)).toMatchObject({
      advertise: clear,
      reason: "h2-faster",
    });
  });

  it("compares with cold over HTTP/3, where the switch is paid", () => {
    const some = client(0.01);
    expect(decide(request(), some, adaptive, NOON_MS, 0.5).advertise).toEqual(nothing);
    expect(decide(onH3, some, adaptive, NOON_MS, 0.5).advertise).toEqual(h3(100));
  });

  it("explains itself: path, times, saving", () => {
    expect(decide(request(), LOSSY, adaptive, NOON_MS, 0.5)).toMatchObject({
      mode: "adaptive",
      basis: "client",
      path: { rttMs: 50, deliveryRateBps: 25e6 },
      predicted: { contentBytes: 1_000_000, clamped: false },
    });
    expect(decide(request(), LOSSY, adaptive, NOON_MS, 0.5).saving).toBeCloseTo(1, 2);
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

  it("explores a share, half each way, and says with what probability", () => {
    const policy = adaptivePolicy({ exploration: { share: 0.1 } });
    const at = (unit: number | undefined) => decide(request(), CLEAN, policy, NOON_MS, unit);
    expect(at(0.04)).toMatchObject({ advertise: h3(10), reason: "exploration" });
    expect(at(0.04).propensity).toBeCloseTo(0.05, 12);
    expect(at(0.09)).toMatchObject({ advertise: nothing, reason: "exploration" });
    expect(at(0.09).propensity).toBeCloseTo(0.95, 12);
    expect(at(0.5)).toMatchObject({ advertise: nothing, reason: "h2-faster" });
    expect(at(0.5).propensity).toBeCloseTo(0.95, 12);
    expect(at(undefined)).toMatchObject({ advertise: nothing, reason: "h2-faster", propensity: 1 });
  });
});

const anyNumber = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, -1, 0, Infinity, -Infinity, 1e300));
const anyTransport = fc.record(
  { packets: anyNumber, ageMs: anyNumber, lossRatio: anyNumber, minRttMs: anyNumber, deliveryRateBps: anyNumber },
  { requiredKeys: ["packets", "ageMs"] },
);
const anyEstimate = fc.record({ tcp: anyTransport, quic: anyTransport }, { requiredKeys: [] });

describe("for every input, sense or not", () => {
  it("answers, and where the prior says HTTP/2 broken numbers never lead to an offer", () => {
    const broken = fc.constantFrom(Number.NaN, -1, 0, -Infinity, Infinity);
    fc.assert(
      fc.property(broken, broken, broken, fc.constantFrom(UNKNOWN, LATE, CLEAN), (rttMs, rate, loss, history) => {
        const facts = request({ rttMs, deliveryRateBps: rate });
        const known: History = history === CLEAN ? client(loss, { deliveryRateBps: rate, minRttMs: rttMs }) : history;
        expect(decide(facts, known, h2First, NOON_MS, 0.5).advertise.kind).toBe("nothing");
      }),
    );
  });

  it("never throws, and an offer's life is within the bounds", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MODES),
        fc.constantFrom("tcp" as const, "quic" as const),
        anyNumber,
        anyNumber,
        anyEstimate,
        anyEstimate,
        anyNumber,
        (mode, transportOf, rttMs, offerUntilMs, known, network, unit) => {
          const facts = request({ transport: transportOf, rttMs, offerUntilMs });
          const policy = { ...adaptive, mode, exploration: { share: 0.2 } };
          const { advertise } = decide(facts, { state: "known", client: known, network }, policy, NOON_MS, unit);
          expect(advertise.kind === "h3" ? advertise.maS : 10).toSatisfy((maS) => maS === 10 || maS === 100);
        },
      ),
    );
  });

  it("an offer over HTTP/2 means that the predicted saving is above the margin", () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: 0.1, max: 500, noNaN: true }), unit, (rttMs, loss) => {
        const decision = decide(request({ rttMs }), client(loss), adaptive, NOON_MS, 0.5);
        const above =
          decision.predicted !== undefined && decision.predicted.stayMs / decision.predicted.switchMs - 1 > 0.05;
        expect(decision.advertise.kind).toBe(above ? "h3" : "nothing");
      }),
    );
  });
});
