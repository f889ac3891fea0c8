import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addToEpochs, type Epoch, EPOCHS, epochsSinceChange } from "./epochs.ts";
import { addLoss, NO_LOSS } from "./loss.ts";
import { NOON_MS } from "./testing.ts";

/** What a visit of 1 MB adds: 700 packets on a path of 20 ms and 40 Mbit/s. */
const visit = (over: Partial<Epoch> = {}): Epoch => ({
  atMs: 0,
  packets: 700,
  lost: 0,
  bytes: 1_000_000,
  minRttMs: 20,
  deliveryRateBps: 5_000_000,
  ...over,
});
const lost = (...losses: number[]): Epoch[] => losses.map((n) => visit({ lost: n }));
const rtt = (...rtts: number[]): Epoch[] => rtts.map((minRttMs) => visit({ minRttMs }));
const rate = (over: Partial<Epoch>, ...rates: number[]): Epoch[] =>
  rates.map((deliveryRateBps) => visit({ deliveryRateBps, ...over }));

/** The totals before the first of these visits. */
interface Before {
  readonly packets: number;
  readonly lost: number;
  readonly minRttMs: number | undefined;
}

const NOTHING_BEFORE: Before = { packets: 0, lost: 0, minRttMs: undefined };

/** The result for visits that are this many milliseconds apart, after `before`. */
function sinceChange(visits: readonly Epoch[], before: Before = NOTHING_BEFORE, apartMs = 60_000): number | undefined {
  const epochs = visits.map((epoch, i) => ({ ...epoch, atMs: NOON_MS + i * apartMs }));
  const rtts = [before.minRttMs, ...epochs.map((epoch) => epoch.minRttMs)].filter((ms) => ms !== undefined);
  const held = addLoss(NO_LOSS, before.packets, before.lost, NOON_MS);
  return epochsSinceChange(epochs, {
    loss: epochs.reduce((loss, epoch) => addLoss(loss, epoch.packets, epoch.lost, epoch.atMs), held),
    minRttMs: rtts.length === 0 ? undefined : Math.min(...rtts),
  });
}

describe("epochsSinceChange", () => {
  const cases: [string, readonly Epoch[], number | undefined][] = [
    ["a path that stays as it is", lost(0, 0, 0, 0, 0, 0, 0, 0), undefined],
    ["the first visit has nothing to differ from", lost(21), undefined],

    ["loss from nothing to 3 %", lost(0, 21), 1],
    ["loss from 3 % to nothing", lost(21, 0), 1],
    ["loss that came after many visits without", lost(0, 0, 0, 0, 0, 0, 0, 21), 1],
    ["loss that went", lost(21, 21, 21, 0), 1],
    ["two visits since the loss came", lost(0, 0, 21, 21), 2],
    ["2 % and 3 %: as far apart as chance brings them", lost(14, 21), undefined],
    ["a burst of a few", lost(0, 5), undefined],
    ["too few packets to tell", [...lost(0, 0), visit({ packets: 99, lost: 9 })], undefined],
    [
      "few packets in each of three seconds, enough in all",
      [...lost(0, 0), ...Array.from({ length: 3 }, () => visit({ packets: 40, lost: 4 }))],
      3,
    ],
    [
      "a difference that no decision turns on, however plain",
      [visit({ packets: 1e6, lost: 0 }), visit({ packets: 1e6, lost: 4_000 })],
      undefined,
    ],

    ["RTT from 5 to 80 ms", rtt(5, 5, 80), 1],
    ["RTT from 80 to 5 ms", rtt(80, 80, 5), 1],
    ["RTT longer by less than half", rtt(40, 59), undefined],
    ["RTT longer by a queue's milliseconds", rtt(5, 14), undefined],
    ["RTT shorter by a queue's milliseconds", rtt(14, 5), undefined],
    ["another RTT in too few packets", [...rtt(5, 5), visit({ minRttMs: 80, packets: 99 })], undefined],

    ["a rate of less than half", rate({}, 10e6, 4e6), 1],
    ["a rate of half", rate({}, 10e6, 5e6), undefined],
    ["a lower rate of a transfer half as large", [...rate({}, 10e6), ...rate({ bytes: 500_000 }, 4e6)], 1],
    ["a lower rate of a smaller transfer", [...rate({}, 10e6), ...rate({ bytes: 499_999 }, 4e6)], undefined],
    ["a lower rate under loss above 0.5 %", rate({ lost: 7 }, 10e6, 4e6), undefined],
    ["a lower rate that came with such loss", [...rate({}, 10e6), ...rate({ lost: 5 }, 4e6)], undefined],
    ["a lower rate after one under loss", [visit({ lost: 7, deliveryRateBps: 10e6 }), ...rate({}, 4e6)], undefined],
    ["a higher rate: the largest counts anyway", rate({}, 4e6, 10e6), undefined],
    ["a rate where there was none", [visit({ deliveryRateBps: undefined }), ...rate({}, 4e6)], undefined],
  ];
  it.each(cases)("%s", (_name, visits, expected) => {
    expect(sinceChange(visits)).toBe(expected);
  });

  it.each<[string, Before, Epoch, number | undefined]>([
    ["loss differs", { packets: 5_000, lost: 0, minRttMs: 20 }, visit({ lost: 21 }), 1],
    ["loss is the same", { packets: 5_000, lost: 150, minRttMs: 20 }, visit({ lost: 21 }), undefined],
    ["RTT is longer", { packets: 5_000, lost: 0, minRttMs: 5 }, visit({ minRttMs: 80 }), 1],
    ["faded to too little to tell", { packets: 99, lost: 0, minRttMs: 20 }, visit({ lost: 21 }), undefined],
  ])("against what is no longer held one by one: %s", (_name, before, now, expected) => {
    expect(sinceChange([now], before)).toBe(expected);
  });

  it("subtracts no more than is left of what has faded", () => {
    // An hour halves the totals, but not the epochs.
    const epochs = lost(0, 21).map((epoch, i) => ({ ...epoch, atMs: NOON_MS + i * 1000 }));
    const loss = { packets: 300, lost: 1, asOfMs: NOON_MS + 1000 };
    expect(epochsSinceChange(epochs, { loss, minRttMs: 20 })).toBeUndefined();
  });

  it("takes loss that comes with the size of a page for what it is: slow start beyond the queue", () => {
    const small = visit();
    const large = visit({ packets: 7_600, lost: 600, bytes: 10_000_000 });
    expect(sinceChange([small, large, small, large, small])).toBeUndefined();
    expect(sinceChange([large, small, large, small])).toBeUndefined();
    // A small page with loss after a large one without, or a large page without loss after a small one with: another
    // path.
    expect(sinceChange([visit({ packets: 7_600, bytes: 10_000_000 }), visit({ lost: 21 })])).toBe(1);
    expect(sinceChange([visit({ lost: 21 }), visit({ packets: 7_600, bytes: 10_000_000 })])).toBe(1);
  });

  it.each([
    [0.001, 1],
    [0.02, 1],
    [0.1, 1],
    [0.03, 20],
  ])(
    "takes chance for a change in less than 1 %% of paths that lose %f all along, visited each %d minutes",
    (ratio, minutes) => {
      const draw = seeded(1);
      const paths = 1_000;
      let changed = 0;
      for (let path = 0; path < paths; path++) {
        const visits = Array.from({ length: EPOCHS }, () => {
          let losses = 0;
          for (let packet = 0; packet < 700; packet++) if (draw() < ratio) losses++;
          return visit({ lost: losses });
        });
        if (sinceChange(visits, NOTHING_BEFORE, minutes * 60_000) !== undefined) changed++;
      }
      expect(changed).toBeLessThan(paths / 100);
    },
  );
});

describe("addToEpochs", () => {
  const told = (atMs: number, over: Partial<Epoch> = {}): Epoch => ({ ...visit(over), atMs });

  it("adds up what one second told", () => {
    const first = told(NOON_MS + 10, { lost: 2 });
    const second = told(NOON_MS + 990, { lost: 3, minRttMs: 19, deliveryRateBps: 6e6 });
    expect(addToEpochs(addToEpochs([], first), second)).toEqual([
      { atMs: NOON_MS, packets: 1_400, lost: 5, bytes: 2_000_000, minRttMs: 19, deliveryRateBps: 6e6 },
    ]);
  });

  it.each([
    ["lost less", -3, 2],
    ["more than was lost in this second", -9, 0],
    ["more lost than sent", 9_999, 1_400],
  ])("a correction: %s", (_name, correction, expected) => {
    const held = addToEpochs([], told(NOON_MS, { lost: 5 }));
    expect(addToEpochs(held, told(NOON_MS, { lost: correction }))[0]?.lost).toBe(expected);
  });

  it("does not depend on the order of arrival, and keeps the newest few, oldest first", () => {
    const anyTold = fc
      .record({
        atMs: fc.integer({ min: NOON_MS, max: NOON_MS + 20_000 }),
        packets: fc.nat(1_000),
        lostShare: fc.double({ min: 0, max: 1, noNaN: true }),
        bytes: fc.nat(1e6),
        minRttMs: fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined }),
        deliveryRateBps: fc.option(fc.integer({ min: 1, max: 1e9 }), { nil: undefined }),
      })
      .map(({ lostShare, ...epoch }): Epoch => ({ ...epoch, lost: Math.floor(epoch.packets * lostShare) }));
    const withPermutation = fc
      .array(anyTold, { maxLength: 40 })
      .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(withPermutation, ([list, permuted]) => {
        const epochs = list.reduce(addToEpochs, []);
        expect(permuted.reduce(addToEpochs, [])).toEqual(epochs);
        const seconds = [...new Set(list.map(({ atMs }) => Math.floor(atMs / 1000) * 1000))].sort((a, b) => a - b);
        expect(epochs.map(({ atMs }) => atMs)).toEqual(seconds.slice(-EPOCHS));
      }),
    );
  });
});

/** Uniform from 0 to 1, the same for a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
