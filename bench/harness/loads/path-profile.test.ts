import { describe, expect, it } from "vitest";
import { profileFrom } from "./batch.ts";

describe("profileFrom", () => {
  const network = {
    rateMbps: 20,
    delayMs: 30,
    lossRatio: 0.01,
    profile: [
      { atMs: 4_000, rateMbps: 8, delayMs: 60 },
      { atMs: 8_000, rateMbps: 2, delayMs: 100, lossRatio: 0.5 },
    ],
  };

  it("is the path itself from its beginning", () => {
    expect(profileFrom(network, 12_000, 0)).toEqual({
      ...network,
      profile: network.profile.map((step) => ({ lossRatio: 0.01, ...step })),
    });
  });

  it("goes on from the middle of it, and comes round", () => {
    expect(profileFrom(network, 12_000, 5_000)).toEqual({
      rateMbps: 8,
      delayMs: 60,
      lossRatio: 0.01,
      profile: [
        { atMs: 3_000, rateMbps: 2, delayMs: 100, lossRatio: 0.5 },
        { atMs: 7_000, rateMbps: 20, delayMs: 30, lossRatio: 0.01 },
        { atMs: 11_000, rateMbps: 8, delayMs: 60, lossRatio: 0.01 },
      ],
    });
  });

  it("has at any moment what the path itself has then", () => {
    const at = (path: ReturnType<typeof profileFrom>, ms: number): number =>
      path.profile?.findLast(({ atMs }) => atMs <= ms)?.rateMbps ?? path.rateMbps;
    for (let offsetMs = 0; offsetMs < 12_000; offsetMs += 500)
      for (let ms = 0; ms < 12_000; ms += 500)
        expect(at(profileFrom(network, 12_000, offsetMs), ms)).toBe(at(network, (offsetMs + ms) % 12_000));
  });
});
