import { describe, expect, it } from "vitest";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { packetsOf } from "./experiment.ts";
import { delayErrorsMs, gapNs, idealNs, lossesOf, type Packet, rates, reorderedIn, type Stamps } from "./report.ts";

const stamps = (sentNs: readonly number[], receivedNs: readonly number[]): Stamps => ({
  sentNs,
  receivedNs,
  receiverDrops: 0,
  clockStepNs: 0,
});
const probe = (bytes: number, dueNs = 0): Packet => ({ dueNs, bytes, isProbe: true });

describe("packetsOf", () => {
  const random = () => seededRandom(1, "packets");

  it("sends a fifth more than the bottleneck lets through", () => {
    const packets = packetsOf({ mode: "rate", seconds: 1 }, { rateMbps: 10 }, random());
    expect(packets).toHaveLength(1_000);
    expect(packets.at(-1)).toEqual({ dueNs: 999 * gapNs(1_500, 12), bytes: 1_500, isProbe: true });
  });

  it("spaces probes at random about their mean, in order among the load", () => {
    const packets = packetsOf({ mode: "delay", packets: 10_000, gapMs: 1, loadMbps: 4 }, {}, random());
    const dues = packets.map(({ dueNs }) => dueNs);
    expect(dues).toEqual(dues.toSorted((one, other) => one - other));
    const probes = packets.filter(({ isProbe }) => isProbe);
    expect(probes).toHaveLength(10_000);
    expect((probes.at(-1)?.dueNs ?? 0) / 1e10).toBeCloseTo(1, 1);
    // 1,500 bytes each 3 ms.
    expect((packets.length - probes.length) / 3_333).toBeCloseTo(1, 1);
  });

  it("sends as many to be lost as it is asked to", () => {
    expect(packetsOf({ mode: "loss", packets: 40_000 }, {}, random())).toHaveLength(40_000);
  });
});

describe("a perfect path", () => {
  // At 12 Mbit/s, 1,500 bytes take 1 ms.
  const packets = [probe(1_500), probe(750), probe(1_500)];
  const sentNs = [5e6, 5.2e6, 9e6];

  it("has a queue before its bottleneck", () => {
    expect(idealNs(packets, sentNs, { rateMbps: 12, delayMs: 10 })).toEqual([11e6, 11.3e6, 11e6]);
    expect(idealNs(packets, sentNs, { delayMs: 10 })).toEqual([10e6, 10e6, 10e6]);
  });

  it("is what probes are compared with, and load is not", () => {
    const late = stamps([...sentNs, 10e6], [16.1e6, 16.7e6, -1, 90e6]);
    const errorMs = delayErrorsMs([...packets, { ...probe(64), isProbe: false }], late, { rateMbps: 12, delayMs: 10 });
    expect([errorMs(0), errorMs(1)]).toEqual([expect.closeTo(0.1, 9), expect.closeTo(0.2, 9)]);
  });
});

it("the rate is that of the middle of the run, whatever the sender offered", () => {
  // 1,250 bytes each millisecond are 10 Mbit/s.
  const packets = Array.from({ length: 1_000 }, (_, i) => probe(1_250, i * 5e5));
  const { rateMbps, offeredMbps } = rates(
    packets,
    stamps(
      packets.map(({ dueNs }) => dueNs),
      packets.map((_, i) => (i < 500 ? i * 1e6 + (i < 200 ? 3e5 * (200 - i) : 0) : -1)),
    ),
    {},
  );
  expect(rateMbps).toBeCloseTo(10, 9);
  expect(offeredMbps).toBeCloseTo(20, 1);
});

it("counts losses, and packets that came too late", () => {
  const receivedNs = [-1, 1, -1, -1, -1, 4, 3, 5, 6, -1];
  expect(lossesOf(stamps([], receivedNs))).toBe(5);
  expect(reorderedIn(stamps([], receivedNs))).toBe(1);
});
