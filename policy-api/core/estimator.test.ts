import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateAt } from "./estimate.ts";
import {
  applyIncrement,
  applySample,
  applySamples,
  BASELINE_STALE_MS,
  BASELINES,
  type PathState,
  RATE_GATE_BYTES,
  SHARE_LOSS,
  SHARE_PACKETS,
} from "./estimator.ts";
import { historyAt } from "./history.ts";
import { LOSS_HALF_LIFE_MS } from "./loss.ts";
import { parsePathState } from "./parse-state.ts";
import type { PathSample } from "./sample.ts";
import { HOUR_MS, NOON_MS, sample } from "./testing.ts";
import { BUCKETS } from "./windowed.ts";

const tcpAt = (samples: PathSample[], nowMs: number) => estimateAt(applySamples({}, samples), nowMs)?.tcp;

describe("loss", () => {
  const cases: [string, PathSample[], number | undefined, number][] = [
    ["one sample", [sample({ packetsSent: 200, packetsLost: 4 })], 0.02, 200],
    [
      "cumulative counters count once",
      [sample({ packetsSent: 100, packetsLost: 2 }), sample({ atMs: NOON_MS + 1, packetsSent: 300, packetsLost: 6 })],
      0.02,
      300,
    ],
    [
      "lost steps back when a packet turns out to have been late",
      [sample({ packetsSent: 100, packetsLost: 10 }), sample({ atMs: NOON_MS + 1, packetsSent: 200, packetsLost: 2 })],
      0.01,
      200,
    ],
    [
      "an id that begins anew counts from there on",
      [
        sample({ packetsSent: 1000, packetsLost: 10 }),
        sample({ atMs: NOON_MS + 1, packetsSent: 5, packetsLost: 0 }),
        sample({ atMs: NOON_MS + 2, packetsSent: 1005, packetsLost: 10 }),
      ],
      0.01,
      2000,
    ],
    [
      "two connections weigh by packets",
      [sample({ packetsSent: 900, packetsLost: 0 }), sample({ connectionId: "c2", packetsSent: 100, packetsLost: 10 })],
      0.01,
      1000,
    ],
    ["no packets, no ratio", [sample({ rttMs: 5, packetsSent: 0, packetsLost: 0 })], undefined, 0],
    ["lost without sent says nothing", [sample({ rttMs: 5, packetsLost: 9 })], undefined, 0],
  ];
  it.each(cases)("%s", (_name, samples, ratio, packets) => {
    const tcp = tcpAt(samples, NOON_MS + 2);
    if (ratio === undefined) expect(tcp?.lossRatio).toBeUndefined();
    else expect(tcp?.lossRatio).toBeCloseTo(ratio, 6);
    expect(tcp?.packets).toBeCloseTo(packets, 1);
  });

  it("loses half its weight in a half-life, not its ratio", () => {
    const tcp = tcpAt([sample({ packetsSent: 400, packetsLost: 8 })], NOON_MS + LOSS_HALF_LIFE_MS);
    expect(tcp?.packets).toBeCloseTo(200, 9);
    expect(tcp?.lossRatio).toBeCloseTo(0.02, 9);
  });
});

describe("RTT", () => {
  it.each([
    ["the connection's own minimum", [sample({ rttMs: 9, minRttMs: 4 })], NOON_MS, 4],
    ["without one, the smoothed RTT", [sample({ rttMs: 9 })], NOON_MS, 9],
    ["0 is not a measurement", [sample({ rttMs: 9, minRttMs: 0 })], NOON_MS, 9],
    ["the smallest in the window", [sample({ rttMs: 9 }), sample({ connectionId: "c2", rttMs: 7 })], NOON_MS, 7],
    [
      "forgotten with its bucket",
      [sample({ rttMs: 2 }), sample({ atMs: NOON_MS + HOUR_MS, rttMs: 9 })],
      NOON_MS + BUCKETS * HOUR_MS,
      9,
    ],
  ])("%s", (_name, samples, nowMs, expected) => {
    expect(tcpAt(samples, nowMs)?.minRttMs).toBe(expected);
  });
});

describe("delivery rate", () => {
  it("counts only above the gate, by what was sent since the last sample", () => {
    const first = sample({ bytesSent: RATE_GATE_BYTES - 1, deliveryRateBps: 5e6, rttMs: 1 });
    const idle = sample({ atMs: NOON_MS + 1000, bytesSent: RATE_GATE_BYTES, deliveryRateBps: 5e6 });
    const busy = sample({ atMs: NOON_MS + 1200, bytesSent: 3 * RATE_GATE_BYTES, deliveryRateBps: 4e6 });
    expect(tcpAt([first, idle], NOON_MS)?.deliveryRateBps).toBeUndefined();
    expect(tcpAt([first, idle, busy], NOON_MS)?.deliveryRateBps).toBe(4e6);
  });

  it("of a slow path counts when the connection was busy at it", () => {
    const at = (seconds: number, bytesSent: number) =>
      sample({ atMs: NOON_MS + seconds * 1000, bytesSent, deliveryRateBps: 20_000 });
    expect(tcpAt([at(0, 0), at(5, 90_000)], NOON_MS + 5000)?.deliveryRateBps).toBe(20_000);
    expect(tcpAt([at(0, 0), at(5, 40_000)], NOON_MS + 5000)?.deliveryRateBps).toBeUndefined();
    expect(tcpAt([at(0, 90_000)], NOON_MS)?.deliveryRateBps).toBeUndefined();
  });

  it("is the largest of the window", () => {
    const fast = sample({ bytesSent: 1e6, deliveryRateBps: 9e6 });
    const slow = sample({ connectionId: "c2", bytesSent: 1e6, deliveryRateBps: 1e6 });
    expect(tcpAt([fast, slow], NOON_MS)?.deliveryRateBps).toBe(9e6);
  });
});

describe("a transport that comes after a change", () => {
  const visit = (transport: PathSample["transport"], second: number, lost: number): PathSample =>
    sample({
      transport,
      connectionId: `${transport}${second}`,
      atMs: NOON_MS + second * 1000,
      rttMs: 20,
      packetsSent: 700,
      packetsLost: lost,
      closing: true,
    });
  const changed = [0, 10, 20].map((second) => visit("tcp", second, 0)).concat(visit("tcp", 30, 35));

  it("keeps all that it tells, not only the last seconds", () => {
    const later = Array.from({ length: 20 }, (_, i) => visit("quic", 40 + 10 * i, 35));
    const estimate = estimateAt(applySamples({}, [...changed, ...later]), NOON_MS + 300_000);
    expect(estimate?.tcp?.packets).toBeCloseTo(700, -2);
    expect(estimate?.quic?.packets).toBeGreaterThan(20 * 700 * 0.9);
    expect(estimate?.quic?.changedMsAgo).toBe(270_000);
  });

  it("adds nothing of before the change", () => {
    const state = applySamples({}, changed);
    expect(estimateAt(applySample(state, visit("quic", 5, 0)).state, NOON_MS + 300_000)?.quic).toBeUndefined();
  });
});

describe("state", () => {
  it("keeps transports apart", () => {
    const state = applySamples({}, [sample({ rttMs: 3 }), sample({ transport: "quic", rttMs: 5 })]);
    expect(estimateAt(state, NOON_MS)).toMatchObject({ tcp: { minRttMs: 3 }, quic: { minRttMs: 5 } });
  });

  it("follows a bounded number of connections; one that has ended gives up its place", () => {
    const samples = Array.from({ length: 100 }, (_, i) =>
      sample({ connectionId: `c${i}`, atMs: NOON_MS + i, packetsSent: 10, closing: true }),
    );
    const state = applySamples({}, samples);
    expect(state.tcp?.baselines).toHaveLength(BASELINES);
    expect(estimateAt(state, NOON_MS + 100)?.tcp?.packets).toBeCloseTo(1000, 1);
  });

  it("counts each packet once when more connections are live than are followed", () => {
    let state: PathState = {};
    const connections = 3 * BASELINES;
    for (let round = 1; round <= 60; round++)
      for (let c = 0; c < connections; c++)
        state = applySample(
          state,
          sample({
            connectionId: `c${c}`,
            atMs: NOON_MS + round * 5000 + c,
            packetsSent: round * 200,
            packetsLost: round * 2,
            bytesSent: round * 1000,
            deliveryRateBps: 9e9,
          }),
        ).state;
    const tcp = estimateAt(state, NOON_MS + 300_000)?.tcp;
    expect(tcp?.packets).toBeLessThanOrEqual(BASELINES * 60 * 200);
    expect(tcp?.packets).toBeGreaterThan(BASELINES * 60 * 200 * 0.9);
    expect(tcp?.lossRatio).toBeCloseTo(0.01, 6);
    expect(tcp?.deliveryRateBps).toBeUndefined();
  });

  it("takes the place of a connection that has long said nothing", () => {
    const live = Array.from({ length: BASELINES }, (_, i) =>
      sample({ connectionId: `c${i}`, atMs: NOON_MS + i, packetsSent: 10 }),
    );
    const later = (ms: number) => sample({ connectionId: "new", atMs: NOON_MS + ms, packetsSent: 10 });
    const ids = (last: PathSample) => applySamples({}, [...live, last]).tcp?.baselines.map((b) => b.connectionId);
    expect(ids(later(BASELINE_STALE_MS - 1))).not.toContain("new");
    expect(ids(later(BASELINE_STALE_MS))).toContain("new");
    expect(ids(later(BASELINE_STALE_MS))).not.toContain("c0");
  });

  it("gives a network what it gave the client, as far as the client's share goes", () => {
    let client: PathState = {};
    let network: PathState = {};
    for (const s of [
      sample({ rttMs: 4, packetsSent: 10, packetsLost: 1, bytesSent: 2e5, deliveryRateBps: 1e6 }),
      sample({ atMs: NOON_MS + 5, rttMs: 3, packetsSent: 20, packetsLost: 1, bytesSent: 4e5, deliveryRateBps: 2e6 }),
    ]) {
      const applied = applySample(client, s);
      client = applied.state;
      network = applyIncrement(network, applied.onward).state;
    }
    expect(estimateAt(network, NOON_MS + 9)).toEqual(estimateAt(client, NOON_MS + 9));
  });

  it("is forgotten to the last reading", () => {
    const state = applySamples({}, [sample({ rttMs: 4, packetsSent: 100, packetsLost: 1 })]);
    expect(estimateAt(state, NOON_MS + 48 * HOUR_MS)).toBeUndefined();
  });
});

describe("a path that changes", () => {
  const MINUTE_MS = 60_000;
  /** The i-th visit: 700 packets over a new connection, a minute after the visit before. */
  const visit = (i: number, over: Partial<PathSample> = {}): PathSample =>
    sample({
      connectionId: `v${i}`,
      atMs: NOON_MS + i * MINUTE_MS,
      rttMs: 20,
      packetsSent: 700,
      packetsLost: 0,
      bytesSent: 1e6,
      deliveryRateBps: 5e6,
      closing: true,
      ...over,
    });
  const visits = (from: number, to: number, over: Partial<PathSample> = {}): PathSample[] =>
    Array.from({ length: to - from }, (_, i) => visit(from + i, over));
  const nowMs = NOON_MS + 10 * MINUTE_MS;

  it.each<[string, PathSample[], object]>([
    ["loss came", [...visits(0, 3), visit(3, { packetsLost: 21 })], { lossRatio: 0.03, changedMsAgo: 7 * MINUTE_MS }],
    ["loss went", [...visits(0, 3, { packetsLost: 21 }), visit(3)], { lossRatio: 0, changedMsAgo: 7 * MINUTE_MS }],
    ["RTT is longer", [...visits(0, 3, { rttMs: 5 }), visit(3, { rttMs: 80 })], { minRttMs: 80 }],
    ["RTT is shorter", [...visits(0, 3, { rttMs: 80 }), visit(3, { rttMs: 5 })], { minRttMs: 5 }],
    ["the rate is lower", [...visits(0, 3), visit(3, { deliveryRateBps: 1e6 })], { deliveryRateBps: 1e6 }],
  ])("forgets what was before: %s", (_name, samples, expected) => {
    const tcp = tcpAt(samples, nowMs);
    expect(tcp).toMatchObject(expected);
    // 700 packets of seven minutes ago, with a half-life of an hour.
    expect(tcp?.packets).toBeCloseTo(700 * 2 ** (-7 / 60), 6);
  });

  it("changes and changes back", () => {
    const samples = [...visits(0, 3), ...visits(3, 5, { packetsLost: 21 }), ...visits(5, 7)];
    expect(tcpAt(samples, nowMs)).toMatchObject({ lossRatio: 0, changedMsAgo: 5 * MINUTE_MS });
  });

  it("a path that does not keeps all that it told", () => {
    const tcp = tcpAt(visits(0, 10), nowMs);
    expect(tcp?.packets).toBeGreaterThan(6_000);
    expect(tcp).not.toHaveProperty("changedMsAgo");
  });

  it("a network is many paths: its state forgets nothing, and keeps no epochs", () => {
    let client: PathState = {};
    let network: PathState = {};
    for (const s of [...visits(0, 3), visit(3, { packetsLost: 21, rttMs: 80 })]) {
      const applied = applySample(client, s);
      client = applied.state;
      network = applyIncrement(network, applied.onward).state;
    }
    expect(client.tcp?.changedAtMs).toBe(NOON_MS + 3 * MINUTE_MS);
    expect(network.tcp).toMatchObject({ epochs: [], baselines: [], changedAtMs: 0 });
    const tcp = estimateAt(network, nowMs)?.tcp;
    expect(tcp).toMatchObject({ minRttMs: 20 });
    expect(network.tcp?.loss.packets).toBeCloseTo(SHARE_PACKETS, 9);
  });

  it("what was on its way when it changed is not added, but is counted on from", () => {
    const changed = applySamples({}, [...visits(0, 3), visit(3, { packetsLost: 21 })]);
    const late = visit(2.5, { connectionId: "late", packetsSent: 5_000, rttMs: 1, closing: false });
    const held = applySample(changed, late).state;
    expect(estimateAt(held, nowMs)).toEqual(estimateAt(changed, nowMs));
    const more = applySample(held, { ...late, atMs: nowMs, packetsSent: 5_100, packetsLost: 3, rttMs: 20 }).state;
    const lost = (state: PathState) => state.tcp?.loss.lost ?? 0;
    expect(lost(more)).toBeCloseTo(21 * 2 ** (-7 / 60) + 3, 6);
  });

  it("is another for both transports: what the other measured before does not come back with its next sample", () => {
    const quic = (i: number, over: Partial<PathSample> = {}) =>
      visit(i, { transport: "quic", connectionId: `q${i}`, ...over });
    const changed = applySamples({}, [quic(0), quic(1), ...visits(0, 3), visit(3, { packetsLost: 21 })]);
    expect(estimateAt(changed, nowMs)).toEqual({ tcp: expect.objectContaining({ lossRatio: 0.03 }) });
    const handshake = quic(4, { packetsSent: 10, bytesSent: 12_000, deliveryRateBps: undefined });
    const estimate = estimateAt(applySample(changed, handshake).state, handshake.atMs);
    expect(estimate?.quic?.packets).toBeCloseTo(10, 9);
    expect(estimate?.quic).not.toHaveProperty("deliveryRateBps");
  });

  it("keeps of the other transport what it measured since", () => {
    const slowly = [2, 3, 4].map((i) => visit(i, { packetsSent: 40, packetsLost: 4, bytesSent: 58_000 }));
    const meanwhile = visit(3.5, { transport: "quic", connectionId: "q", packetsSent: 60, packetsLost: 6 });
    const before = visit(0, { transport: "quic", connectionId: "q0" });
    const estimate = estimateAt(applySamples({}, [before, ...visits(0, 2), ...slowly, meanwhile]), NOON_MS);
    expect(estimate?.tcp?.lossRatio).toBeCloseTo(0.1, 6);
    expect(estimate?.quic?.packets).toBeCloseTo(60, 9);
  });

  it("is looked for only where something was told: the same sample again finds nothing more", () => {
    // The last two together show that loss began. Of these two, the last has a shorter RTT.
    const samples = [
      ...visits(0, 3, { rttMs: 10 }),
      visit(3, { rttMs: 60, packetsSent: 99, packetsLost: 4 }),
      visit(4, { rttMs: 20, packetsSent: 100, packetsLost: 3 }),
    ];
    const state = applySamples({}, samples);
    expect(state.tcp?.epochs).toHaveLength(2);
    expect(applySample(state, visit(4, { rttMs: 20, packetsSent: 100, packetsLost: 3 })).state).toEqual(state);
  });
});

const anySample: fc.Arbitrary<PathSample> = fc.record(
  {
    transport: fc.constantFrom("tcp" as const, "quic" as const),
    connectionId: fc.constantFrom("a", "b", "c"),
    atMs: fc.integer({ min: NOON_MS, max: NOON_MS + 12 * HOUR_MS }),
    closing: fc.boolean(),
    rttMs: fc.double({ min: 0, max: 1e3, noNaN: true }),
    minRttMs: fc.double({ min: 0, max: 1e3, noNaN: true }),
    packetsSent: fc.nat(1e6),
    packetsLost: fc.nat(1e5),
    bytesSent: fc.nat(1e9),
    deliveryRateBps: fc.double({ min: 0, max: 1e9, noNaN: true }),
  },
  { requiredKeys: ["transport", "connectionId", "atMs", "closing"] },
);

describe("for every list of samples", () => {
  it("a loss ratio lies between 0 and 1, evidence is never negative, and the state can be read back", () => {
    fc.assert(
      fc.property(fc.array(anySample, { maxLength: 60 }), (samples) => {
        const state = samples.reduce((held, s) => applySample(held, s).state, {} as PathState);
        expect(parsePathState(JSON.parse(JSON.stringify(state)))).toEqual({ ok: true, value: state });
        const estimate = estimateAt(state, NOON_MS + 12 * HOUR_MS);
        for (const read of [estimate?.tcp, estimate?.quic]) {
          if (read?.lossRatio !== undefined) {
            expect(read.lossRatio).toBeGreaterThanOrEqual(0);
            expect(read.lossRatio).toBeLessThanOrEqual(1);
          }
          expect(read?.packets ?? 0).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it("neither the order in a batch nor arriving twice changes anything", () => {
    // One sample at each moment: of two in the same millisecond, neither is the later.
    const batch = fc.uniqueArray(anySample, { selector: ({ atMs }) => atMs, maxLength: 40 });
    const shuffledWithRepeats = batch.chain((samples) =>
      fc.tuple(
        fc.constant(samples),
        fc
          .subarray(samples)
          .chain((repeats) =>
            fc.shuffledSubarray([...samples, ...repeats], { minLength: samples.length + repeats.length }),
          ),
      ),
    );
    const anyTime = fc.integer({ min: NOON_MS, max: NOON_MS + 24 * HOUR_MS });
    fc.assert(
      fc.property(shuffledWithRepeats, anyTime, ([samples, arrived], nowMs) => {
        expect(estimateAt(applySamples({}, arrived), nowMs)).toEqual(estimateAt(applySamples({}, samples), nowMs));
      }),
      { numRuns: 1_000 },
    );
  });

  it("a sample that arrives again later changes nothing", () => {
    fc.assert(
      fc.property(fc.array(anySample, { maxLength: 20 }), anySample, (samples, twice) => {
        const once = applySample(applySamples({}, samples), twice).state;
        for (const nowMs of [NOON_MS, NOON_MS + 12 * HOUR_MS])
          expect(estimateAt(applySample(once, twice).state, nowMs)).toEqual(estimateAt(once, nowMs));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("the share of a level", () => {
  const visit = (name: string, atMs: number, over: Partial<PathSample> = {}): PathSample =>
    sample({ connectionId: name, atMs, rttMs: 20, packetsSent: 700, packetsLost: 0, closing: true, ...over });

  /** What the next level holds after these samples of one client. */
  function passedOn(samples: readonly PathSample[]): PathState {
    let client: PathState = {};
    let network: PathState = {};
    for (const s of samples) {
      const applied = applySample(client, s);
      client = applied.state;
      network = applyIncrement(network, applied.onward).state;
    }
    return network;
  }

  it("is that of a client's own loss, up to the highest that was measured", () => {
    const lossOf = (packetsLost: number) =>
      estimateAt(passedOn([visit("a", NOON_MS, { packetsLost })]), NOON_MS)?.tcp?.lossRatio;
    expect(lossOf(7)).toBeCloseTo(0.01, 9);
    expect(lossOf(28)).toBeCloseTo(0.04, 9);
    for (const lost of [35, 210, 700]) expect(lossOf(lost)).toBeCloseTo(SHARE_LOSS, 9);
  });

  it("is filled up again as it fades, by what the client sends then", () => {
    const hourly = Array.from({ length: 6 }, (_, i) =>
      visit(`v${i}`, NOON_MS + i * HOUR_MS, { packetsLost: i < 3 ? 0 : 14 }),
    );
    const tcp = estimateAt(passedOn(hourly), NOON_MS + 5 * HOUR_MS)?.tcp;
    expect(tcp?.packets).toBeCloseTo(SHARE_PACKETS, 9);
    expect(tcp?.lossRatio).toBeGreaterThan(0.015);
  });

  it("leaves a level unknown until four have told of it", () => {
    const knownBy = (clients: number): boolean => {
      let network: PathState = {};
      for (let i = 0; i < clients; i++) {
        const { onward } = applySample({}, visit(`c${i}`, NOON_MS, { packetsLost: 210 }));
        network = applyIncrement(network, onward).state;
      }
      return historyAt({ network }, [], NOON_MS).state === "known";
    };
    expect([1, 2, 3, 4].map(knownBy)).toEqual([false, false, false, true]);
  });

  it("of a network is as bounded to its autonomous system, whatever number of clients it shows", () => {
    let network: PathState = {};
    let asn: PathState = {};
    for (let i = 0; i < 500; i++) {
      const toNetwork = applySample({}, visit(`c${i}`, NOON_MS + i * 1_000, { packetsLost: 350 })).onward;
      const applied = applyIncrement(network, toNetwork);
      network = applied.state;
      asn = applyIncrement(asn, applied.onward).state;
    }
    expect(asn.tcp?.loss.packets).toBeCloseTo(SHARE_PACKETS, 6);
    expect(asn.tcp?.loss.lost).toBeLessThanOrEqual(SHARE_PACKETS * SHARE_LOSS + 1e-9);
  });

  it("is bounded at any time, for any samples in any order", () => {
    fc.assert(
      fc.property(fc.array(anySample, { maxLength: 60 }), (samples) => {
        let client: PathState = {};
        let network: PathState = {};
        // As the store applies them: each batch in order.
        for (const s of samples.toSorted((one, other) => one.atMs - other.atMs)) {
          const applied = applySample(client, s);
          client = applied.state;
          network = applyIncrement(network, applied.onward).state;
          for (const held of [network.tcp, network.quic]) {
            expect(held?.loss.packets ?? 0).toBeLessThanOrEqual(SHARE_PACKETS + 1e-9);
            expect(held?.loss.lost ?? 0).toBeLessThanOrEqual(SHARE_PACKETS * SHARE_LOSS + 1e-9);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
