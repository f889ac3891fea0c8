import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beliefOf, priorOf, STRENGTHS } from "./belief.ts";
import { evidenceOf } from "./evidence.ts";
import type { ConnectionSeen, History } from "./facts.ts";
import { HALF_LIFE_MS } from "./fading.ts";
import { LOSS_NODES, NODES } from "./loss-nodes.ts";
import { seen } from "./testing.ts";

const MIX = [0.6, 0.12, 0.1, 0.1, 0.05, 0.03];
const known = (...connections: ConnectionSeen[]): History => ({ state: "known", connections });
const beliefAt = (rttMs: number, history: History) => beliefOf(MIX, history, evidenceOf(history, rttMs));
const belief = (...connections: ConnectionSeen[]) => beliefAt(50, known(...connections));
const meanLoss = ({ weights }: { weights: readonly number[] }) =>
  weights.reduce((sum, weight, node) => sum + weight * (LOSS_NODES[node] ?? 0), 0);
const rounded = (weights: readonly number[]) => weights.map((weight) => Number(weight.toFixed(9)));

describe("beliefOf", () => {
  it("is the mix where nothing is known", () => {
    expect(beliefAt(50, { state: "unknown" })).toEqual({
      weights: MIX,
      quicAlone: 0,
      packets: { tcp: 0, quic: 0 },
    });
  });

  it("is the mix where nobody counts packets, however much else is remembered", () => {
    expect(belief(seen({ packets: 0, rttMs: 50, bytes: 1e7 })).weights).toEqual(MIX);
  });

  it.each(LOSS_NODES.map((loss, node) => [loss, node] as const))(
    "finds a loss of %d after many packets",
    (loss, node) => {
      expect(belief(seen({ packets: 1e6, lost: loss * 1e6 })).weights[node]).toBeGreaterThan(0.99);
    },
  );

  it("moves from the first packet on, and further with each", () => {
    const losses = [0, 1, 2, 4].map((lost) => meanLoss(belief(seen({ packets: 99, lost }))));
    expect(losses).toEqual(losses.toSorted((a, b) => a - b));
    expect(new Set(losses).size).toBe(4);
  });

  it("takes 5 lost of 99 for evidence of much loss", () => {
    const { weights } = belief(seen({ packets: 99, lost: 5 }));
    expect((weights[4] ?? 0) + (weights[5] ?? 0)).toBeGreaterThan(2 * ((MIX[4] ?? 0) + (MIX[5] ?? 0)));
  });

  it("fades to the prior, and never says something else on the way", () => {
    const lossAfter = (ageMs: number) => meanLoss(belief(seen({ packets: 40, lost: 4, ageMs })));
    const hours = Array.from({ length: 80 }, (_, hour) => lossAfter(hour * 3_600_000));
    for (const [hour, loss] of hours.entries()) if (hour > 0) expect(loss).toBeLessThan(hours[hour - 1] ?? 0);
    expect(lossAfter(30 * HALF_LIFE_MS)).toBeCloseTo(meanLoss({ weights: MIX }), 6);
  });

  it("tells two devices behind one address apart by their RTT", () => {
    const both = known(seen({ rttMs: 20, packets: 5_000, lost: 0 }), seen({ rttMs: 90, packets: 5_000, lost: 100 }));
    expect(meanLoss(beliefAt(20, both))).toBeLessThan(0.001);
    expect(meanLoss(beliefAt(90, both))).toBeGreaterThan(0.015);
  });

  it("gives nothing to a loss that the mix does not have, however much speaks for it", () => {
    const much = known(seen({ packets: 1e8, lost: 5e6 }));
    expect(beliefOf([1, 0, 0, 0, 0, 0], much, evidenceOf(much, 50)).weights).toEqual([1, 0, 0, 0, 0, 0]);
  });

  it("does not believe figures that no counter shows", () => {
    for (const broken of [
      { packets: 10, lost: 11 },
      { packets: Number.NaN, lost: 0 },
      { packets: 10, lost: -1 },
    ])
      expect(belief(seen(broken)).weights).toEqual(MIX);
  });
});

describe("loss that QUIC alone sees", () => {
  const tcp = seen({ packets: 1_300, lost: 0 });
  const quic = (lossRatio: number) => seen({ transport: "quic", packets: 1_300, lost: 1_300 * lossRatio });

  it.each([0.02, 0.08, 0.2])("of %d is the network's policing of UDP, not the path's loss", (loss) => {
    const found = belief(tcp, quic(loss));
    expect(found.quicAlone).toBeGreaterThan(0.9);
    expect(meanLoss(found)).toBeLessThan(0.002);
  });

  it("where both lose as much it is the path's", () => {
    for (const loss of [0.005, 0.02, 0.05])
      expect(belief(seen({ packets: 1_300, lost: 1_300 * loss }), quic(loss)).quicAlone).toBeLessThan(0.01);
  });

  it("of a connection that sent 10 MB it is most likely its own slow start: neither the path's loss nor policing", () => {
    const big = seen({ transport: "quic", packets: 7_500, lost: 650 });
    const found = belief(tcp, big);
    expect(found.quicAlone).toBeLessThan(0.1);
    expect(meanLoss(found)).toBeLessThan(0.002);
    // Without TCP's word the path may be lossy too, but that is not certain.
    expect(meanLoss(belief(big))).toBeLessThan(0.03);
  });

  it("is nothing before QUIC lost a packet", () => {
    expect(belief(tcp, quic(0)).quicAlone).toBe(0);
  });
});

describe("priorOf", () => {
  const clients = (node: number, n: number) => Array.from({ length: NODES }, (_, i) => (i === node ? n : 0));

  it("takes each level upon the one above it", () => {
    const share = 10 / (10 + STRENGTHS.network);
    const prior = priorOf(MIX, { state: "known", network: clients(5, 10) });
    const expected = MIX.map((weight, node) => (1 - share) * weight + (node === 5 ? share : 0));
    expect(rounded(prior)).toEqual(rounded(expected));
  });

  it("one client moves the answer for its network by less than a twentieth", () => {
    const prior = priorOf(MIX, { state: "known", network: clients(5, 1) });
    expect((prior[5] ?? 0) - (MIX[5] ?? 0)).toBeLessThan(0.05);
  });

  it("the network's own clients outweigh its system's, and these the site's", () => {
    const prior = priorOf(MIX, {
      state: "known",
      site: clients(0, 1e6),
      asn: clients(3, 1e6),
      network: clients(5, 1e6),
    });
    expect(prior[5]).toBeGreaterThan(0.99);
  });

  it("always adds up to 1", () => {
    const level = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: NODES, maxLength: NODES });
    fc.assert(
      fc.property(level, level, level, (network, asn, site) => {
        const sum = priorOf(MIX, { state: "known", network, asn, site }).reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(1, 9);
      }),
    );
  });
});

it("nearness: the same RTT counts whole, one of twice the length hardly at all", () => {
  const nearness = (rttMs: number | undefined, theirs: number | undefined): number =>
    evidenceOf(known(seen({ packets: 1, lost: 0, rttMs: theirs })), rttMs).tcp.sent;
  expect(nearness(50, 50)).toBe(1);
  expect(nearness(50, 60)).toBeGreaterThan(0.6);
  expect(nearness(20, 45)).toBeLessThan(0.01);
  expect(nearness(0.3, 0.5)).toBeGreaterThan(0.9);
  for (const none of [undefined, Number.NaN, Infinity, -3, 0]) {
    expect(nearness(none, 45)).toBe(1);
    expect(nearness(45, none)).toBe(1);
  }
});
