import { describe, expect, it } from "vitest";
import type { PathEstimate, TransportEstimate } from "./estimate.ts";
import type { History, RequestFacts } from "./facts.ts";
import { pathOf, rttOf } from "./path.ts";

const read = (over: Partial<TransportEstimate> = {}): TransportEstimate => ({
  packets: 100_000,
  ageMs: 0,
  lossRatio: 0.02,
  minRttMs: 30,
  deliveryRateBps: 2e6,
  ...over,
});
const tcp = (over: Partial<TransportEstimate> = {}): PathEstimate => ({ tcp: read(over) });
const request: RequestFacts = { transport: "tcp", path: "/", rttMs: 50 };
const known = (over: Omit<History, "state">): History => ({ state: "known", ...over });

describe("pathOf", () => {
  const levels: [string, History, object | undefined][] = [
    [
      "the client before its network and its autonomous system",
      known({ client: tcp({ lossRatio: 0.01 }), network: tcp({ lossRatio: 0.02 }), asn: tcp({ lossRatio: 0.03 }) }),
      { basis: "client", paths: [{ lossRatio: 0.01 }] },
    ],
    [
      "the network of a client that is not known",
      known({ network: tcp({ lossRatio: 0.02 }), asn: tcp({ lossRatio: 0.03 }) }),
      { basis: "network", paths: [{ lossRatio: 0.02 }] },
    ],
    [
      "the autonomous system of a network that is not known",
      known({ asn: tcp({ lossRatio: 0.03 }) }),
      { basis: "asn", paths: [{ lossRatio: 0.03 }] },
    ],
    ["nobody is known", { state: "unknown" }, undefined],
    ["a look-up that came late knows no levels", { state: "late" }, undefined],
    [
      "but what this connection has shown",
      { state: "late", client: tcp() },
      { basis: "client", paths: [{ lossRatio: 0.02 }] },
    ],
    ["an estimate of nothing", known({ client: {} }), undefined],
  ];
  it.each(levels)("%s", (_name, history, expected) => {
    const path = pathOf(request, history);
    if (expected === undefined) expect(path).toBeUndefined();
    else expect(path).toMatchObject(expected);
  });

  it("takes the rate from the nearest that has one: this connection before its network, and that below its largest", () => {
    const rateless = tcp({ deliveryRateBps: 0 });
    const rateOf = (over: Partial<RequestFacts>, history: Omit<History, "state">): unknown => {
      const path = pathOf({ ...request, ...over }, known(history))?.paths[0];
      return [path?.deliveryRateBps, path?.rateSe];
    };
    const network = tcp({ deliveryRateBps: 9e6 });
    expect(rateOf({}, { client: rateless, network })).toEqual([9e6 * Math.exp(-0.7), 0.7]);
    expect(rateOf({ deliveryRateBps: 4e6 }, { network })).toEqual([4e6, 0.3]);
    expect(rateOf({}, { client: rateless, asn: network })).toEqual([9e6 * Math.exp(-1), 1]);
  });

  it("the farther the level the less certain loss and rate, on the same evidence", () => {
    const at = (["client", "network", "asn"] as const).map(
      (level) => pathOf(request, known({ [level]: tcp() }))?.paths[0],
    );
    const lossWidth = at.map((path) => (path?.lossHigh ?? 0) - (path?.lossLow ?? 0));
    const rateSe = at.map((path) => path?.rateSe ?? 0);
    expect(at.map((path) => path?.lossRatio)).toEqual([0.02, 0.02, 0.02]);
    for (const widths of [lossWidth, rateSe]) expect(widths).toEqual([...new Set(widths)].sort((a, b) => a - b));
    // 1,000 packets of a network count and 200 of an autonomous system; two packets are one draw.
    expect(lossWidth[1]).toBeCloseTo(2 * Math.sqrt((0.02 * 0.98) / 500), 3);
    expect(lossWidth[2]).toBeCloseTo(2 * Math.sqrt((0.02 * 0.98) / 100), 2);
  });

  it("each transport speaks in its own words, that of the connection at hand first", () => {
    const both = known({
      client: { tcp: read({ lossRatio: 0.01 }), quic: read({ lossRatio: 0.04, deliveryRateBps: 9e6 }) },
    });
    const paths = (transport: "tcp" | "quic") => pathOf({ ...request, transport }, both)?.paths;
    const ofTcp = { transport: "tcp", rttMs: 50, lossRatio: 0.01, deliveryRateBps: 2e6 };
    const ofQuic = { transport: "quic", rttMs: 50, lossRatio: 0.04, deliveryRateBps: 9e6 };
    expect(paths("tcp")).toMatchObject([ofTcp, ofQuic]);
    expect(paths("quic")).toMatchObject([ofQuic, ofTcp]);
    expect(pathOf({ ...request, transport: "quic" }, known({ client: tcp() }))?.paths).toMatchObject([
      { transport: "tcp" },
    ]);
  });

  it.each([
    ["nothing lost of many", 0, 100_000, 0, 0.00003],
    ["nothing lost of few", 0, 100, 0, 0.02],
    ["a twentieth of many", 0.05, 100_000, 0.049, 0.051],
    ["a twentieth of few", 0.05, 100, 0.027, 0.091],
    ["all of them", 1, 100, 0.98, 1],
    ["no packet yet", 0.5, 0, 0, 1],
  ])("loss has an interval: %s", (_name, lossRatio, packets, low, high) => {
    const path = pathOf(request, known({ client: tcp({ lossRatio, packets }) }))?.paths[0];
    expect(path?.lossRatio).toBe(lossRatio);
    expect(path?.lossLow).toBeCloseTo(low, 3);
    expect(path?.lossHigh).toBeCloseTo(high, 3);
  });

  it("where the platform counts no packets loss may be anything up to 2 %", () => {
    const uncounted: PathEstimate = { tcp: { packets: 0, ageMs: 0, minRttMs: 30 } };
    expect(pathOf(request, known({ client: uncounted }))?.paths).toMatchObject([
      { lossRatio: 0.001, lossLow: 0, lossHigh: 0.02 },
    ]);
  });

  it.each<[string, Partial<RequestFacts>, Partial<TransportEstimate>, object]>([
    ["remembered", {}, {}, { deliveryRateBps: 2e6, rateSe: 0.3 }],
    ["remembered, before this connection's", { deliveryRateBps: 7e6 }, {}, { deliveryRateBps: 2e6, rateSe: 0.3 }],
    ["this connection's", { deliveryRateBps: 7e6 }, { deliveryRateBps: 0 }, { deliveryRateBps: 7e6, rateSe: 0.3 }],
    [
      "not this connection's for the other transport",
      { deliveryRateBps: 7e6, transport: "quic" },
      { deliveryRateBps: 0 },
      { deliveryRateBps: 3_125_000, rateSe: 1 },
    ],
    ["what no network has: nothing can be told", {}, { deliveryRateBps: 1e300 }, { deliveryRateBps: Number.NaN }],
    ["unknown: an access line's", {}, { deliveryRateBps: 0 }, { deliveryRateBps: 3_125_000, rateSe: 1 }],
  ])("rate: %s", (_name, facts, estimate, expected) => {
    expect(pathOf({ ...request, ...facts }, known({ client: tcp(estimate) }))?.paths[0]).toMatchObject(expected);
  });

  it.each<[string, Partial<TransportEstimate>]>([
    ["loss is no number", { lossRatio: Number.NaN }],
    ["loss is negative", { lossRatio: -0.1 }],
    ["loss is above 1", { lossRatio: 1.1 }],
    ["loss is infinite", { lossRatio: Infinity }],
    ["packets are no number", { packets: Number.NaN }],
    ["packets are negative", { packets: -1 }],
    ["packets are infinite", { packets: Infinity }],
  ])("a path whose %s has no loss at all", (_name, estimate) => {
    const path = pathOf(request, known({ client: tcp(estimate) }))?.paths[0];
    expect([path?.lossRatio, path?.lossLow, path?.lossHigh]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });

  it.each([
    [undefined, undefined, undefined],
    [60_000, undefined, 60_000],
    [undefined, 60_000, 60_000],
    [60_000, 5_000, 5_000],
  ])("changed %s ms ago over TCP and %s over QUIC: %s", (overTcp, overQuic, expected) => {
    const at = (changedMsAgo: number | undefined) => read(changedMsAgo === undefined ? {} : { changedMsAgo });
    const history = known({ client: { tcp: at(overTcp), quic: at(overQuic) } });
    expect(pathOf(request, history)?.changedMsAgo).toBe(expected);
  });
});

describe("RTT", () => {
  const withoutRtt: RequestFacts = { transport: "tcp", path: "/" };
  const rtts = (overTcp: number, overQuic: number): PathEstimate => ({
    tcp: read({ minRttMs: overTcp }),
    quic: read({ minRttMs: overQuic }),
  });
  it.each<[string, RequestFacts, Omit<History, "state">, number | undefined]>([
    ["of the connection at hand", request, { client: tcp() }, 50],
    ["the client's smallest, of either transport", withoutRtt, { client: rtts(30, 20), network: tcp() }, 20],
    ["its network's", withoutRtt, { network: rtts(12, 14), asn: tcp() }, 12],
    ["its autonomous system's", withoutRtt, { asn: tcp() }, 30],
    ["0 is a platform that does not know", { ...request, rttMs: 0 }, { client: tcp() }, 30],
    ["a broken one", { ...request, rttMs: Number.NaN }, { client: tcp({ minRttMs: -3 }), network: tcp() }, 30],
    ["none", withoutRtt, {}, undefined],
  ])("%s", (_name, facts, history, expected) => {
    expect(rttOf(facts, known(history))).toBe(expected);
  });

  it("no path without one", () => {
    expect(pathOf(withoutRtt, known({ client: { quic: { packets: 1_000, ageMs: 0, lossRatio: 0 } } }))).toBeUndefined();
  });
});
