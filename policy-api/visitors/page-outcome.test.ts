import { describe, expect, it } from "vitest";
import { ASSIGNMENT_MS, periodAt } from "../decision/assignment.ts";
import type { Remembered } from "../decision/history.ts";
import { isOfPage, outcomeOf, type PagePosition, positionOf, samplesOf } from "./page-outcome.ts";
import { HOUR_MS, NOON_MS, sample, offersHeld } from "../decision/testing.ts";
import { pageDecision, pageReport } from "./testing-pages.ts";
import { VISIT_GAP_MS } from "../decision/visit.ts";
import { addSample, type ConnectionRecord } from "../decision/connections.ts";

describe("whether a report can be of a decision's page", () => {
  /** It arrives this long after the decision, milliseconds. */
  const after = (ms: number, report = pageReport(), decision = pageDecision()): boolean =>
    isOfPage(decision, report, decision.atMs + ms);

  it("yes: as it came", () => {
    expect(after(5_300)).toBe(true);
    expect(after(5_300, pageReport({ protocol: "h3" }), pageDecision({ transport: "quic" }))).toBe(true);
    expect(after(5_300, pageReport({ protocol: "http/1.1" }))).toBe(true);
  });

  it.each([
    ["another protocol than the server knows", 5_300, pageReport({ protocol: "h3" }), pageDecision()],
    ["the same the other way round", 5_300, pageReport(), pageDecision({ transport: "quic" })],
    ["a first byte sooner than half a round trip", 5_300, pageReport({ connectMs: 0, ttfbMs: 18 }), pageDecision()],
    ["more time in the page than has passed", 3_000, pageReport(), pageDecision()],
    ["an hour in the page, a second later", 1_000, pageReport({ loadMs: 3_500_000, atMs: 3_600_000 }), pageDecision()],
  ])("no: %s", (_name, ms, report, decision) => {
    expect(after(ms, report, decision)).toBe(false);
  });

  it("without an RTT any first byte will do", () => {
    expect(after(5_300, pageReport({ connectMs: 0, ttfbMs: 1 }), pageDecision({ rttMs: undefined }))).toBe(true);
  });
});

describe("outcomeOf", () => {
  it("is what was decided, and how long the page took", () => {
    const report = pageReport({
      lcpMs: 250,
      files: [
        { protocol: "h2", count: 2, bytes: 1_000 },
        { protocol: "http/1.1", count: 1, bytes: 10 },
        { protocol: "h3", count: 1, bytes: 500 },
      ],
    });
    const after = { transport: "tcp", rttMs: 55, deliveryRateBps: 2e6 } as const;
    expect(outcomeOf(pageDecision(), report, after)).toEqual({
      ...pageDecision(),
      connectMs: 80,
      ttfbMs: 130,
      loadMs: 400,
      lcpMs: 250,
      h3Bytes: 500,
      tcpBytes: 1_010,
      rttAfterMs: 55,
      rateAfterBps: 2e6,
    });
  });

  it("says of a page without a load event when it was left", () => {
    const outcome = outcomeOf(pageDecision(), pageReport({ loadMs: undefined, atMs: 900 }), { transport: "tcp" });
    expect(outcome).toMatchObject({ leftMs: 900 });
    expect(outcome).not.toHaveProperty("loadMs");
  });
});

describe("samplesOf", () => {
  const l4 = { transport: "tcp", connectionId: "ab", rttMs: 20, packetsSent: 60, packetsLost: 1 } as const;

  it("are of the moment of the reading, under names that no edge gives", () => {
    const report = pageReport({
      connections: [
        { l4, agoMs: 4_000 },
        { l4: undefined, agoMs: 1 },
      ],
    });
    expect(samplesOf(report, { transport: "quic", deliveryRateBps: 5e6 }, NOON_MS)).toEqual([
      { ...l4, connectionId: "page:ab", atMs: NOON_MS - 4_000, closing: false },
    ]);
  });

  it.each([
    ["higher, of this protocol", { transport: "tcp", deliveryRateBps: 5e6 }, 1e6, 5e6],
    ["lower, of this protocol", { transport: "tcp", deliveryRateBps: 5e5 }, 1e6, 1e6],
    ["of the other protocol", { transport: "quic", deliveryRateBps: 5e6 }, 1e6, 1e6],
    ["where the page knows none", { transport: "tcp", deliveryRateBps: 5e6 }, undefined, 5e6],
    ["not known", { transport: "tcp" }, undefined, undefined],
  ] as const)("have the rate after the load, if it is %s", (_name, after, deliveryRateBps, expected) => {
    const report = pageReport({ connections: [{ l4: { ...l4, deliveryRateBps }, agoMs: 0 }] });
    expect(samplesOf(report, after, NOON_MS)[0]?.deliveryRateBps).toBe(expected);
  });

  it("continue a connection's counters over its pages, in whatever order they arrive", () => {
    const later = { ...l4, packetsSent: 300, packetsLost: 2 };
    const samples = [
      ...samplesOf(pageReport({ connections: [{ l4: later, agoMs: 100 }] }), { transport: "tcp" }, NOON_MS),
      ...samplesOf(pageReport({ connections: [{ l4, agoMs: 5_000 }] }), { transport: "tcp" }, NOON_MS + 10),
    ];
    for (const order of [samples, samples.toReversed()]) {
      const held = order.reduce(addSample, [] as readonly ConnectionRecord[]);
      expect(held).toMatchObject([{ packetsSent: 300, packetsLost: 2 }]);
    }
  });
});

describe("a page's place among its client's", () => {
  const DAY_MS = 24 * HOUR_MS;
  const NOW_MS = NOON_MS + 3 * HOUR_MS;
  const PERIOD = periodAt(NOW_MS);
  const NOTHING = { samples: [], decided: [] };
  const ACTIVATED_MS = NOW_MS - HOUR_MS;
  type Pending = Parameters<typeof positionOf>[1];
  const client = (atMs: number) => ({ connections: addSample([], sample({ atMs })) });
  const decided = (msAgo: number, period = PERIOD) => ({ period, atMs: NOW_MS - msAgo });
  const heard = (msAgo: number) => ({ client: client(NOW_MS - msAgo) });

  it.each<[string, Remembered | undefined, Pending, PagePosition]>([
    ["nobody looked", undefined, NOTHING, "unknown"],
    [
      "nobody looked, whatever is on its way",
      undefined,
      { samples: [sample({ atMs: NOW_MS })], decided: [decided(1)] },
      "unknown",
    ],
    ["nobody was there", {}, NOTHING, "new"],
    // A client that is offered nothing has no answer either: position must not tell the arms apart.
    ["an answer without a connection", { offers: offersHeld({ answeredAtMs: NOW_MS - 60_000 }) }, NOTHING, "new"],

    ["a connection of before the activation, and no page", heard(NOW_MS - ACTIVATED_MS + 1), NOTHING, "redrawn"],
    ["a connection two days ago, and no page in this period", heard(2 * DAY_MS), NOTHING, "redrawn"],
    [
      "the same that the store does not know yet",
      {},
      { ...NOTHING, samples: [sample({ atMs: ACTIVATED_MS - 1 })] },
      "redrawn",
    ],
    // It was no page, or one that was not asked: the client had its arm then.
    ["a connection since the activation, and no page", heard(60_000), NOTHING, "next"],
    ["the same in an earlier visit", heard(NOW_MS - ACTIVATED_MS), NOTHING, "return"],
    ["the same that the store does not know yet", {}, { ...NOTHING, samples: [sample({ atMs: NOW_MS - 1 })] }, "next"],
    ["a page of the last period", { decided: decided(1_000, PERIOD - 1) }, NOTHING, "redrawn"],
    ["a page of the last period, on its way", {}, { ...NOTHING, decided: [decided(1, PERIOD - 1)] }, "redrawn"],

    ["a page of before the activation: the arm is the same", { decided: decided(2 * HOUR_MS) }, NOTHING, "return"],
    ["a page in this period a minute ago", { decided: decided(60_000) }, NOTHING, "next"],
    ["the same, on its way to the store", {}, { ...NOTHING, decided: [decided(60_000)] }, "next"],
    [
      "of two on their way, one of this period",
      {},
      { ...NOTHING, decided: [decided(9, PERIOD - 1), decided(5)] },
      "next",
    ],
    ["an old page, and a connection just now", { decided: decided(DAY_MS), ...heard(1_000) }, NOTHING, "next"],
    [
      "an old page, and news of a connection",
      { decided: decided(DAY_MS) },
      { ...NOTHING, samples: [sample({ atMs: NOW_MS })] },
      "next",
    ],
    ["a page just within the gap between visits", { decided: decided(VISIT_GAP_MS - 1) }, NOTHING, "next"],

    ["a page of the visit before", { decided: decided(VISIT_GAP_MS) }, NOTHING, "return"],
    ["a page and a connection of it", { decided: decided(DAY_MS), ...heard(VISIT_GAP_MS) }, NOTHING, "return"],
  ])("%s", (_name, remembered, pending, expected) => {
    expect(positionOf(remembered, pending, NOW_MS, ACTIVATED_MS)).toBe(expected);
  });

  it("is a new draw's first page once, however soon the next one comes", () => {
    const beginMs = PERIOD * ASSIGNMENT_MS + ASSIGNMENT_MS;
    const before = { decided: { period: PERIOD, atMs: beginMs - 1 } };
    expect(positionOf(before, NOTHING, beginMs - 1, 0)).toBe("next");
    expect(positionOf(before, NOTHING, beginMs, 0)).toBe("redrawn");
    const after = { decided: { period: PERIOD + 1, atMs: beginMs } };
    expect(positionOf(after, NOTHING, beginMs + 1, 0)).toBe("next");
    expect(positionOf(after, NOTHING, beginMs + VISIT_GAP_MS, 0)).toBe("return");
  });
});
