import { describe, expect, it } from "vitest";
import { evidenceOf } from "./evidence.ts";
import type { ConnectionSeen } from "./facts.ts";
import { HALF_LIFE_MS } from "./fading.ts";
import { seen } from "./testing.ts";
import { ownLoads, shiftOf } from "./value.ts";

const load = (transport: "tcp" | "quic", bytesPerMs: number, over: Partial<ConnectionSeen> = {}) =>
  seen({ transport, bytes: 1e6, busyMs: 1e6 / bytesPerMs, ...over });
const own = (...connections: ConnectionSeen[]) => ownLoads(evidenceOf({ state: "known", connections }, 50));

describe("ownLoads", () => {
  it("is the ratio of the speeds", () => {
    expect(own(load("tcp", 1_000), load("quic", 2_000))?.gain).toBeCloseTo(Math.log(2), 12);
  });

  it("is more certain with each load", () => {
    const once = own(load("tcp", 1_000), load("quic", 2_000));
    const twice = own(load("tcp", 1_000), load("quic", 2_000), load("quic", 2_000));
    expect(twice?.variance).toBeLessThan(once?.variance ?? 0);
  });

  it.each([
    ["one protocol alone", [load("tcp", 1_000)]],
    ["small files", [load("tcp", 1_000), load("quic", 2_000, { bytes: 99_999 })]],
    ["no times", [load("tcp", 1_000), seen({ transport: "quic", bytes: 1e6 })]],
    ["another path", [load("tcp", 1_000, { rttMs: 50 }), load("quic", 2_000, { rttMs: 300 })]],
    ["loads of last month", [load("tcp", 1_000), load("quic", 2_000, { ageMs: 30 * HALF_LIFE_MS })]],
  ])("says nothing of %s", (_name, connections) => {
    expect(own(...connections)).toBeUndefined();
  });
});

describe("shiftOf", () => {
  it("is nothing without loads", () => {
    expect(shiftOf(0.3, undefined)).toBe(0);
  });

  it("goes towards what the loads show, farther the more certain they are", () => {
    const [little, much] = [1, 0.01].map((variance) => shiftOf(0.1, { gain: -1.1, variance }));
    expect(little).toBeLessThan(0);
    expect(much).toBeLessThan(little ?? 0);
    expect(much).toBeGreaterThan(-1.2);
  });
});
