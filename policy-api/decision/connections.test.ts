import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addSample,
  CONNECTIONS,
  type ConnectionRecord,
  forgottenOf,
  RATE_GATE_BYTES,
  seenAt,
  withSample,
} from "./connections.ts";
import type { PathSample } from "./sample.ts";
import { HOUR_MS, NOON_MS, sample } from "./testing.ts";

const after = (...samples: PathSample[]) => samples.reduce(addSample, [] as readonly ConnectionRecord[]);
const counters = (packetsSent: number, packetsLost: number, atMs = NOON_MS, over: Partial<PathSample> = {}) =>
  sample({ packetsSent, packetsLost, atMs, ...over });

describe("addSample", () => {
  it("keeps the newest counters of each connection", () => {
    const held = after(counters(10, 1), counters(30, 2, NOON_MS + 1), counters(5, 0, NOON_MS, { connectionId: "c2" }));
    expect(held.map(({ id, packetsSent, packetsLost }) => [id, packetsSent, packetsLost])).toEqual([
      ["c1", 30, 2],
      ["c2", 5, 0],
    ]);
  });

  it("tells the transports apart, whatever the names of their connections", () => {
    expect(after(counters(10, 1), counters(20, 2, NOON_MS + 1, { transport: "quic" }))).toHaveLength(2);
  });

  it("does not count a repeat, or what comes late", () => {
    const held = after(counters(10, 1), counters(30, 2, NOON_MS + 1));
    expect(addSample(held, counters(30, 2, NOON_MS + 1))).toBe(held);
    expect(addSample(held, counters(10, 1))).toBe(held);
  });

  it("begins anew where the count of sent packets falls: another connection has the name", () => {
    const [one] = after(counters(30, 2, NOON_MS, { bytesSent: 9e5 }), counters(10, 0, NOON_MS + 1));
    expect(one).toMatchObject({ packetsSent: 10, packetsLost: 0, bytesSent: 0 });
  });

  it("keeps what a later sample does not say", () => {
    const [one] = after(
      counters(30, 2, NOON_MS, { bytesSent: 9, busyMs: 5, rttMs: 20 }),
      sample({ atMs: NOON_MS + 1 }),
    );
    expect(one).toMatchObject({ packetsSent: 30, packetsLost: 2, bytesSent: 9, busyMs: 5, rttMs: 20 });
  });

  it("takes a loss without a count of packets for none", () => {
    expect(after(sample({ packetsLost: 7 }))[0]).toMatchObject({ packetsSent: 0, packetsLost: 0 });
  });

  it.each([
    ["the smallest of the connection", { rttMs: 30, minRttMs: 20 }, { rttMs: 25 }, 20],
    ["a smaller one later", { rttMs: 30 }, { rttMs: 25 }, 25],
    ["0 is not known", { rttMs: 0 }, { minRttMs: 0, rttMs: 25 }, 25],
    ["none", {}, {}, undefined],
  ])("RTT: %s", (_name, first, second, expected) => {
    expect(after(sample(first), sample({ ...second, atMs: NOON_MS + 1 }))[0]?.rttMs).toBe(expected);
  });

  it("takes a rate only from a connection that has sent enough: never where nobody counts bytes", () => {
    const rate = (over: Partial<PathSample>) => after(sample({ deliveryRateBps: 9e4, ...over }))[0]?.deliveryRateBps;
    expect(rate({})).toBeUndefined();
    expect(rate({ bytesSent: RATE_GATE_BYTES - 1 })).toBeUndefined();
    expect(rate({ bytesSent: RATE_GATE_BYTES })).toBe(9e4);
  });

  it("keeps eight connections: the newest, and those that tell most", () => {
    const many = Array.from({ length: CONNECTIONS }, (_, i) =>
      counters(100 + i, 0, NOON_MS + i, { connectionId: `big-${i}` }),
    );
    const held = after(...many, counters(5, 0, NOON_MS + 100, { connectionId: "new" }));
    expect(held).toHaveLength(CONNECTIONS);
    expect(held[0]?.id).toBe("new");
    expect(held.some(({ id }) => id === "big-0")).toBe(false);
    const next = addSample(held, counters(200, 0, NOON_MS + 200, { connectionId: "other" }));
    expect(next.some(({ id }) => id === "new")).toBe(false);
  });

  it("counts an evicted connection that goes on once, not twice", () => {
    const many = Array.from({ length: CONNECTIONS }, (_, i) =>
      counters(100 + i, 0, NOON_MS + 1 + i, { connectionId: `big-${i}` }),
    );
    const held = after(counters(50, 5), ...many, counters(60, 6, NOON_MS + 100));
    expect(held.filter(({ id }) => id === "c1")).toMatchObject([{ packetsSent: 60, packetsLost: 6 }]);
  });

  it("does not depend on the order of arrival", () => {
    const samples = fc.array(
      fc
        .record({ connection: fc.nat(3), step: fc.nat(20), sent: fc.nat(1000) })
        .map(({ connection, step, sent }) =>
          counters(1_000 * step + sent, step, NOON_MS + step, { connectionId: `c${connection}` }),
        ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(samples, { maxLength: 1 }).map(([all = []]) => all),
        fc.infiniteStream(fc.nat()),
        (all, keys) => {
          const unique = [...new Map(all.map((one) => [`${one.connectionId} ${one.atMs}`, one])).values()];
          const keyed = unique.map((one) => [keys.next().value ?? 0, one] as const);
          const shuffled = keyed.toSorted(([a], [b]) => a - b).map(([, one]) => one);
          const facts = (held: readonly ConnectionRecord[]) =>
            held.map(({ id, packetsSent, packetsLost, atMs }) => ({ id, packetsSent, packetsLost, atMs }));
          const inTime = unique.toSorted((a, b) => a.atMs - b.atMs);
          expect(new Set(facts(after(...shuffled)))).toEqual(new Set(facts(after(...inTime))));
        },
      ),
    );
  });
});

describe("samples that wait", () => {
  const waiting = (...samples: PathSample[]) => samples.reduce(withSample, [] as readonly PathSample[]);

  it("are as many as connections, however many come", () => {
    const samples = Array.from({ length: 300 }, (_, i) =>
      counters(i, 0, NOON_MS + i, { connectionId: `c${i % 3}`, bytesSent: 1_000 * i, rttMs: 50 - (i % 7) }),
    );
    expect(waiting(...samples)).toHaveLength(3);
  });

  it.each([
    ["of another transport", { transport: "quic" }],
    ["older", { atMs: NOON_MS - 1 }],
    ["whose counters fell: another connection has the name", { packetsSent: 9 }],
    ["that counts nothing", { packetsSent: undefined }],
  ] as const)("keep a sample apart that is %s", (_name, over) => {
    expect(waiting(counters(10, 1), sample({ atMs: NOON_MS + 1, packetsSent: 11, ...over }))).toHaveLength(2);
  });

  it("say the same of a client as if all had been kept", () => {
    const anySample = fc.record({
      connection: fc.nat(3),
      more: fc.nat(100_000),
      rttMs: fc.constantFrom(undefined, 0, 20, 30),
      minRttMs: fc.constantFrom(undefined, 0, 10, 25),
      deliveryRateBps: fc.constantFrom(undefined, 1e4, 2e4),
      busyMs: fc.option(fc.nat(100), { nil: undefined }),
      closing: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anySample, { maxLength: 20 }), fc.nat(10), (drawn, held) => {
        const sent = [0, 0, 0, 0];
        const samples = drawn.map(({ connection, more, ...over }, i) => {
          sent[connection] = (sent[connection] ?? 0) + more;
          // Two of the connections count: one packets, one also bytes.
          const bytesSent = connection === 1 ? sent[connection] : undefined;
          const packetsSent = connection < 2 ? sent[connection] : undefined;
          return sample({ connectionId: `c${connection}`, atMs: NOON_MS + i, packetsSent, bytesSent, ...over });
        });
        const before = after(...samples.slice(0, held));
        const now = samples.slice(held);
        expect(waiting(...now).reduce(addSample, before)).toEqual(now.reduce(addSample, before));
      }),
    );
  });
});

describe("what a forgotten client's open connections bring back", () => {
  it("nothing of what they did before", () => {
    const held = after(counters(100, 10, NOON_MS, { bytesSent: 1e5, busyMs: 50, rttMs: 20 }));
    const left = forgottenOf(held);
    const [one] = addSample(left, counters(130, 11, NOON_MS + 5, { bytesSent: 1.5e5, busyMs: 60 }));
    expect(one && seenAt(one, NOON_MS + 10)).toEqual({
      transport: "tcp",
      ageMs: 5,
      packets: 30,
      lost: 1,
      bytes: 5e4,
      busyMs: 10,
    });
  });

  it("closed ones are gone", () => {
    expect(forgottenOf(after(counters(100, 10, NOON_MS, { closing: true })))).toEqual([]);
  });

  it("a packet that turns out to have been late is no negative loss", () => {
    const left = forgottenOf(after(counters(100, 10)));
    const [one] = addSample(left, counters(130, 9, NOON_MS + 5));
    expect(one && seenAt(one, NOON_MS + HOUR_MS)).toMatchObject({ packets: 30, lost: 0 });
  });
});
