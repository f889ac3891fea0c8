import cubic from "../policies/cubic.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import type { KillSwitch } from "./activation.ts";
import { decide, decideKilled, drawnArm } from "./decide.ts";
import type { History, RequestFacts } from "./facts.ts";
import type { Method, Mode, Policy } from "./policy.ts";
import { adaptivePolicy, clientWith, flatTable, GAINS, HOUR_MS, NOON_MS, seen } from "./testing.ts";

const UNKNOWN: History = { state: "unknown" };
const LATE: History = { state: "late" };
const request = (over: Partial<RequestFacts> = {}): RequestFacts => ({
  transport: "tcp",
  path: "/",
  rttMs: 50,
  ...over,
});
const CLEAN = clientWith(0);
const LOSSY = clientWith(0.05);

const adaptive = adaptivePolicy();
const by = (method: Method): Policy => adaptivePolicy({ method });
/** The same expected gain whatever the loss. */
const gaining = (gain: number, over: Partial<Policy> = {}): Policy =>
  adaptivePolicy({ method: { ...GAINS, table: flatTable(gain, gain) }, ...over });
const FIXED_H3 = { pathPrefix: "/other/", mode: "fixed-h3" } as const;
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
    ["an unknown client: by the mix, nothing", request(), UNKNOWN, adaptive, nothing, "h2-faster"],
    ["an unknown client over h3: by the mix, clear", onH3, UNKNOWN, adaptive, clear, "h2-faster"],
    ["an unknown client where most gain", request(), UNKNOWN, gaining(0.2), h3(100), "h3-faster"],
    ["a late look-up: by the mix", request(), LATE, gaining(0.2), h3(100), "h3-faster"],
    ["no RTT at all", request({ rttMs: undefined }), UNKNOWN, gaining(0.2), nothing, "not-measured"],
    ["RTT 0 is not known", request({ rttMs: 0 }), LATE, gaining(0.2), nothing, "not-measured"],
    ["an RTT of a minute and more is a fault", request({ rttMs: 60_001 }), LATE, gaining(0.2), nothing, "not-measured"],
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
    ["a memory of broken figures is none", request(), clientWith(Number.NaN), adaptive, nothing, "h2-faster"],
    [
      "no method, which no stored policy lacks",
      request(),
      LOSSY,
      { ...adaptive, method: undefined },
      nothing,
      "not-measured",
    ],
  ];
  it.each(cases)("%s", (_name, facts, history, policy, advertise, reason) => {
    expect(decide(facts, history, policy, NOON_MS, 0.5)).toMatchObject({ advertise, reason, propensity: 1 });
  });

  it("gives the same answer whichever protocol the request came by", () => {
    for (const history of [CLEAN, LOSSY, clientWith(0.002), clientWith(0.02)]) {
      const [tcp, quic] = [request(), onH3].map((facts) => decide(facts, history, adaptive, NOON_MS, 0.5));
      expect(quic?.saving).toEqual(tcp?.saving);
      expect(quic?.advertise.kind === "h3").toBe(tcp?.advertise.kind === "h3");
    }
  });

  it("explains itself: loss, gains and what they are worth", () => {
    const decision = decide(request(), LOSSY, adaptive, NOON_MS, 0.5);
    expect(decision).toMatchObject({ mode: "adaptive", rttMs: 50, contentBytes: 1_000_000, price: 0, ownShift: 0 });
    expect(decision.lossRatio).toBeCloseTo(0.05, 9);
    expect(decision.next?.gain).toBeCloseTo(Math.log(2), 3);
    expect(decision.saving?.gain).toBeCloseTo(Math.log(2), 3);
    expect(decision.pages).toBeCloseTo(1.2, 9);
  });

  it("a remembered RTT will do", () => {
    const history = clientWith(0.05, { rttMs: 60 });
    expect(decide(request({ rttMs: undefined }), history, adaptive, NOON_MS, 0.5)).toMatchObject({ rttMs: 60 });
  });

  it("remembering an RTT without packets changes nothing: an offer is not withdrawn for it", () => {
    for (const gain of [-0.1, 0.1]) {
      const [unknown, remembered] = [UNKNOWN, clientWith(0, { packets: 0, rttMs: 50 })].map((history) =>
        decide(request(), history, gaining(gain), NOON_MS, 0.5),
      );
      expect(remembered).toEqual(unknown);
    }
  });

  it("offers farther away wherever it offers near", () => {
    const table = { ...flatTable(0, 0), rttMs: [10, 100] };
    const growing = {
      gain: [
        [
          [-0.1, 0.2],
          [-0.1, 0.2],
        ],
      ],
      se: [
        [
          [0.01, 0.01],
          [0.01, 0.01],
        ],
      ],
    };
    const policy = by({
      ...GAINS,
      table: { ...table, next: growing, return: growing, price: [0, 0], priceSe: [1, 1] },
    });
    const offers = [5, 30, 60, 90, 120, 150, 300, 1_000].map(
      (rttMs) => decide(request({ rttMs }), UNKNOWN, policy, NOON_MS, 0.5).advertise.kind === "h3",
    );
    expect(offers.indexOf(true)).toBe(offers.lastIndexOf(false) + 1);
    expect(offers.at(-1)).toBe(true);
  });

  it.each([
    ["a burst that the queue of a fast line dropped", 0.0036, false],
    ["a path that loses all along", 0.02, true],
  ])("cubic.json, a slow device nearby, %s", (_name, lossRatio, isOffered) => {
    // What TCP counted of a page of 21.7 MB at 4 ms, on a device that takes 100 Mbit/s: below the ceiling.
    const client = clientWith(lossRatio, { packets: 30_000, rttMs: 4, deliveryRateBps: 12.5e6 });
    const { advertise } = decide(request({ rttMs: 4 }), client, cubic as unknown as Policy, NOON_MS, 0.5);
    expect(advertise.kind === "h3").toBe(isOffered);
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
    ["an unknown client alike", elsewhere("fixed-h3"), UNKNOWN, adaptive, clear],
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
  const margin = { enter: 0.1, leave: 0.02 };
  const cases: [string, RequestFacts, number, object, string][] = [
    ["an offer begins above enter", request(), 0.12, h3(100), "h3-faster"],
    ["and not below it", request(), 0.08, nothing, "within-margin"],
    ["it goes on below enter", offered(), 0.08, h3(100), "h3-faster"],
    ["over HTTP/3 too", onH3, 0.08, h3(100), "h3-faster"],
    ["down to leave", offered(), 0.03, h3(100), "h3-faster"],
    ["and ends there, but is not taken back", offered(), 0.01, nothing, "within-margin"],
    ["where HTTP/2 is faster too", offered(), -0.02, clear, "h2-faster"],
    ["an offer of another policy has not begun here", until(1), 0.08, nothing, "within-margin"],
    ["one that has run out begins anew", offered({ offerUntilMs: NOON_MS }), 0.08, nothing, "within-margin"],
  ];
  it.each(cases)("%s", (_name, facts, gain, advertise, reason) => {
    expect(decide(facts, CLEAN, gaining(gain, { margin }), NOON_MS, 0.5)).toMatchObject({ advertise, reason });
  });

  it("a margin below 0 keeps an offer of what loses a little, and says that the margin does", () => {
    const below = gaining(-0.003, { margin: { enter: 0.005, leave: -0.005 } });
    expect(decide(offered(), CLEAN, below, NOON_MS, 0.5)).toMatchObject({ advertise: h3(10), reason: "within-margin" });
  });
});

describe("what nobody knows takes no offer back", () => {
  const late = { ...CLEAN, state: "late" } as const;
  const lines: Method = {
    kind: "zero-lines",
    lines: [{ deliveryRateBps: 1e6, rttMs: [10], lossRatio: [0.01] }],
    unknown: "nothing",
  };
  const share = by({ kind: "share", share: 0.5 });
  const noRtt = { rttMs: undefined };
  const cases: [string, Partial<RequestFacts>, History, Policy, object, string][] = [
    ["no RTT", noRtt, CLEAN, adaptive, nothing, "not-measured"],
    ["an RTT that is a fault", { rttMs: 60_001 }, CLEAN, adaptive, nothing, "not-measured"],
    ["no method", {}, CLEAN, { ...adaptive, method: undefined }, nothing, "not-measured"],
    ["no loss for a line", {}, UNKNOWN, by(lines), nothing, "not-measured"],
    ["a look-up that came too late", {}, late, adaptive, nothing, "h2-faster"],
    ["in time", {}, CLEAN, adaptive, clear, "h2-faster"],
    ["HTTP/3 is expected to be a little faster", {}, CLEAN, gaining(0.001), nothing, "within-margin"],
    ["gains that cannot be reckoned", {}, CLEAN, gaining(Number.NaN), nothing, "h2-faster"],
    ["a share, and a client without a draw", {}, CLEAN, share, nothing, "share"],
    ["a share, and a client outside", { shareUnit: 0.7 }, CLEAN, share, clear, "share"],
    ["a share of nobody", {}, CLEAN, by({ kind: "share", share: 0 }), clear, "share"],
    ["where another rule always offers", noRtt, CLEAN, { ...adaptive, rules: [FIXED_H3] }, nothing, "not-measured"],
    ["but who is drawn", noRtt, CLEAN, { ...adaptive, exploration: { share: 1 } }, clear, "exploration"],
  ];
  const margin = { enter: 0.005, leave: 0.005 };
  it.each(cases)("%s", (_name, facts, history, policy, advertise, reason) => {
    for (const holds of [onH3, until(1)])
      expect(decide({ ...holds, ...facts }, history, { ...policy, margin }, NOON_MS, 0.9)).toMatchObject({
        advertise,
        reason,
      });
  });
});

describe("the page at hand", () => {
  const priced = (price: number): Policy => by({ ...GAINS, table: { ...flatTable(0.1, 0.1), price: [price] } });
  it.each([
    ["a price that the next pages pay", request(), 0.05, "h3-faster"],
    ["one that they do not", request(), 0.5, "h2-faster"],
    ["it was paid where an offer lives", offered(), 0.5, "h3-faster"],
    ["and over HTTP/3", onH3, 0.5, "h3-faster"],
  ])("%s", (_name, facts, price, reason) => {
    expect(decide(facts, CLEAN, priced(price), NOON_MS, 0.5).reason).toBe(reason);
  });

  it("counts the pages ahead by whether the visit has begun", () => {
    const pages = (answeredAtMs: number | undefined) =>
      decide(request({ answeredAtMs }), CLEAN, gaining(0.1), NOON_MS, 0.5).pages;
    expect(pages(undefined)).toBeCloseTo(1.2, 9);
    expect(pages(NOON_MS - HOUR_MS)).toBeCloseTo(1.2, 9);
    expect(pages(NOON_MS - 60_000)).toBeCloseTo(pages(NOON_MS - 1_000) ?? 0, 9);
    expect(pages(NOON_MS - 60_000)).not.toBeCloseTo(1.2, 3);
  });
});

describe("what pages transfer", () => {
  const bySize = {
    ...flatTable(0, 0),
    contentBytes: [1e4, 1e6],
    next: {
      gain: [
        [[-0.5], [-0.5]],
        [[0.5], [0.5]],
      ],
      se: [
        [[0.01], [0.01]],
        [[0.01], [0.01]],
      ],
    },
    return: {
      gain: [
        [[-0.5], [-0.5]],
        [[0.5], [0.5]],
      ],
      se: [
        [[0.01], [0.01]],
        [[0.01], [0.01]],
      ],
    },
  };
  const policy = adaptivePolicy({
    method: { ...GAINS, table: bySize },
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
  ])("of %s", (path, contentBytes, reason) => {
    expect(decide(request({ path }), CLEAN, policy, NOON_MS, 0.5)).toMatchObject({ contentBytes, reason });
  });
});

describe("drawnArm", () => {
  const policy = (share: number) => adaptivePolicy({ exploration: { share } });
  it.each([
    [0.2, 0, "offer"],
    [0.2, 0.0999, "offer"],
    [0.2, 0.1, undefined],
    [0.2, 0.8999, undefined],
    [0.2, 0.9, "withhold"],
    [0.2, 0.9999, "withhold"],
    [0.2, undefined, undefined],
    [0, 0, undefined],
    [0, 0.9999, undefined],
    [1, 0.4999, "offer"],
    [1, 0.5, "withhold"],
  ] as const)("of a share of %d, a unit of %s is %s", (share, unit, arm) => {
    expect(drawnArm(policy(share), unit)).toBe(arm);
  });

  it("of a client never is the other one with another share, and each has half of any share", () => {
    const units = Array.from({ length: 1_000 }, (_, i) => (i + 0.5) / 1_000);
    const armsOf = units.map((unit) => {
      const shares = [0, 0.04, 0.2, 0.5, 0.9, 1];
      return shares.map((share) => drawnArm(policy(share), unit));
    });
    for (const arms of armsOf) expect(new Set(arms.filter((arm) => arm !== undefined)).size).toBe(1);
    for (const [i, each] of [0, 20, 100, 250, 450, 500].entries())
      for (const arm of ["offer", "withhold"]) expect(armsOf.filter((arms) => arms[i] === arm)).toHaveLength(each);
  });
});

describe("an offer's life", () => {
  const life = (next: number, again: number, se: number) => {
    const gains = (gain: number) => ({ gain: [[[gain], [gain]]], se: [[[se], [se]]] });
    const table = { ...flatTable(0, 0), next: gains(next), return: gains(again) };
    return decide(request(), CLEAN, by({ ...GAINS, table }), NOON_MS, 0.5).advertise;
  };
  it.each([
    ["a return gains: the longest", 0.1, 0.2, 0.05, h3(100)],
    ["it is expected to, whatever its error: the longest", 0.1, 0.2, 0.3, h3(100)],
    ["a return loses: the shortest", 0.1, -0.2, 0.05, h3(10)],
  ])("%s", (_name, next, again, se, advertise) => {
    expect(life(next, again, se)).toEqual(advertise);
  });
});

describe("evidence against HTTP/3", () => {
  const tcp = seen({ packets: 1_300, rttMs: 50 });
  const quic = (lossRatio: number, over = {}) =>
    seen({ transport: "quic", packets: 1_300, lost: 1_300 * lossRatio, rttMs: 50, ...over });
  const answer = (facts: RequestFacts, ...connections: ReturnType<typeof seen>[]) =>
    decide(facts, { state: "known", connections }, gaining(0.2), NOON_MS, 0.5);

  it.each([0.02, 0.08, 0.2])("UDP alone loses %d: taken back on the next page", (loss) => {
    expect(answer(onH3, tcp, quic(loss))).toMatchObject({ advertise: clear, reason: "quic-loses" });
  });

  it("both lose as much: HTTP/3 stays", () => {
    const lossy = seen({ packets: 1_300, lost: 26, rttMs: 50 });
    expect(answer(onH3, lossy, quic(0.02)).advertise.kind).toBe("h3");
  });

  it("connections count by the smallest RTT, where both are known", () => {
    const far = { ...onH3, rttMs: 500 };
    expect(answer({ ...far, minRttMs: 50 }, tcp, quic(0.08))).toMatchObject({ rttMs: 500, reason: "quic-loses" });
    expect(answer({ ...far, minRttMs: 5 }, tcp, quic(0.08)).advertise.kind).toBe("h3");
    expect(answer(far, tcp, quic(0.08)).advertise.kind).toBe("h3");
  });

  it("the client's own pages were slower over HTTP/3: taken back", () => {
    const slow = [{ ...tcp, bytes: 2e6, busyMs: 500 }, quic(0, { bytes: 2e6, busyMs: 5_000 })];
    expect(answer(onH3, ...slow)).toMatchObject({ advertise: clear, reason: "own-loads-slower" });
  });

  it("and tried again later, later each time", () => {
    const slow = (ageMs: number, visits: number) => [
      ...Array.from({ length: visits }, () => ({ ...tcp, ageMs, bytes: 2e6, busyMs: 500 })),
      ...Array.from({ length: visits }, () => quic(0, { ageMs, bytes: 2e6, busyMs: 2_000 })),
    ];
    const daysUntilTried = (visits: number) => {
      for (let days = 0; days < 60; days++)
        if (answer(request(), ...slow(days * 24 * HOUR_MS, visits)).advertise.kind === "h3") return days;
      return Number.POSITIVE_INFINITY;
    };
    const days = [1, 2, 3].map(daysUntilTried);
    expect(days[0]).toBeGreaterThan(0);
    expect(days[2]).toBeLessThan(60);
    expect(days).toEqual(days.toSorted((a, b) => a - b));
    expect(days[2]).toBeGreaterThan(days[0] ?? 0);
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
    expect(decide(facts, history, gaining(0.2), NOON_MS, 0.5)).toMatchObject({ advertise, reason, propensity: 1 });
  });

  it("whatever the method, and are not explored", () => {
    const methods: Method[] = [
      { kind: "share", share: 1 },
      { kind: "rtt-threshold", rttMs: 0 },
      { kind: "zero-lines", unknown: "h3", lines: [{ deliveryRateBps: 1, rttMs: [0], lossRatio: [0] }] },
    ];
    for (const method of methods) {
      const policy = adaptivePolicy({ method, exploration: { share: 1 } });
      const facts = request({ pausedUntilMs, shareUnit: 0 });
      expect(decide(facts, LOSSY, policy, NOON_MS, 0)).toMatchObject({ reason: "udp-blocked", propensity: 1 });
    }
  });
});

describe("other methods", () => {
  const lines = [{ deliveryRateBps: 25e6, rttMs: [0, 100], lossRatio: [0.1, 0.02] }];
  const line = by({ kind: "zero-lines", lines, unknown: "nothing" });
  const h3First = by({ kind: "zero-lines", lines, unknown: "h3" });
  const threshold = by({ kind: "rtt-threshold", rttMs: 50 });
  const share = by({ kind: "share", share: 0.3 });
  const cases: [string, Policy, RequestFacts, History, object, string][] = [
    ["zero-lines: beyond the line", line, request(), clientWith(0.061), h3(10), "h3-faster"],
    ["zero-lines: this side of it", line, request(), clientWith(0.059), nothing, "h2-faster"],
    ["zero-lines: over HTTP/3 alike", line, onH3, clientWith(0.059), clear, "h2-faster"],
    ["zero-lines: an unknown client", line, request(), UNKNOWN, nothing, "not-measured"],
    ["zero-lines: an unknown client, as published", h3First, request(), UNKNOWN, h3(10), "not-measured"],
    ["zero-lines: no RTT", line, request({ rttMs: undefined }), clientWith(0.5), nothing, "not-measured"],
    ["rtt-threshold: from it on", threshold, request(), CLEAN, h3(10), "h3-faster"],
    ["rtt-threshold: below", threshold, request({ rttMs: 49.9 }), LOSSY, nothing, "h2-faster"],
    ["rtt-threshold: wants no memory", threshold, request(), UNKNOWN, h3(10), "h3-faster"],
    [
      "rtt-threshold: a remembered RTT will do",
      threshold,
      request({ rttMs: undefined }),
      clientWith(0, { rttMs: 60 }),
      h3(10),
      "h3-faster",
    ],
    ["rtt-threshold: none at all", threshold, request({ rttMs: undefined }), UNKNOWN, nothing, "not-measured"],
    ["share: in it", share, request({ shareUnit: 0.29 }), CLEAN, h3(10), "share"],
    ["share: outside", share, request({ shareUnit: 0.3 }), LOSSY, nothing, "share"],
    ["share: outside, over HTTP/3", share, { ...onH3, shareUnit: 0.3 }, LOSSY, clear, "share"],
    ["share: all of them, named or not", by({ kind: "share", share: 1 }), request(), LOSSY, h3(10), "share"],
    ["share: a client that has no name is in none", share, request(), LOSSY, nothing, "share"],
  ];
  it.each(cases)("%s", (_name, policy, facts, history, advertise, reason) => {
    expect(decide(facts, history, policy, NOON_MS, 0.5)).toMatchObject({ advertise, reason, propensity: 1 });
  });
});

describe("exploration", () => {
  const policy = adaptivePolicy({ exploration: { share: 0.1 } });
  const at = (history: History, unit: number | undefined) => decide(request(), history, policy, NOON_MS, unit);
  const cases: [string, History, number | undefined, object, string, number][] = [
    ["drawn to an offer", CLEAN, 0.04, h3(100), "exploration", 0.05],
    ["drawn to none", CLEAN, 0.96, nothing, "exploration", 0.95],
    ["not drawn", CLEAN, 0.5, nothing, "h2-faster", 0.95],
    ["drawn to the offer that was predicted", LOSSY, 0.04, h3(100), "exploration", 0.95],
    ["drawn to none against the prediction", LOSSY, 0.96, nothing, "exploration", 0.05],
    ["no unit could be drawn", CLEAN, undefined, nothing, "h2-faster", 1],
  ];
  it.each(cases)("half of a share each way, with its probability: %s", (_name, history, unit, advertise, reason, p) => {
    const decision = at(history, unit);
    expect(decision).toMatchObject({ advertise, reason });
    expect(decision.propensity).toBeCloseTo(p, 12);
  });

  it("offers for as long as the policy at most, whatever the method and however short its own offer would be", () => {
    // This table has a loss for returns: the policy's own offer is for this visit alone.
    const losing = { gain: [[[-0.2], [-0.2]]], se: [[[0.01], [0.01]]] };
    const methods: Method[] = [
      { ...GAINS, table: flatTable(0.3, 0.3, { return: losing }) },
      { kind: "share", share: 1 },
      { kind: "rtt-threshold", rttMs: 0 },
    ];
    for (const method of methods) {
      const own = adaptivePolicy({ method });
      expect(decide(request(), CLEAN, own, NOON_MS, 0).advertise).toEqual(h3(10));
      const explored = adaptivePolicy({ method, exploration: { share: 1 } });
      expect(decide(request(), CLEAN, explored, NOON_MS, 0).advertise).toEqual(h3(100));
    }
  });

  it("keeps the prediction that it goes against", () => {
    expect(at(LOSSY, 0.96).saving?.gain).toBeCloseTo(Math.log(2), 3);
  });
});
