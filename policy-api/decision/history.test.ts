import { describe, expect, it } from "vitest";
import { HALF_LIFE_MS } from "./fading.ts";
import { historyAt } from "./history.ts";
import { applySamples, EMPTY_CLIENT } from "./levels.ts";
import { addGiven, addToNetwork, EMPTY_LEVEL, NO_MIX } from "./mix.ts";
import { HOUR_MS, NOON_MS, sample } from "./testing.ts";

const SAMPLE = sample({ packetsSent: 1_000, packetsLost: 10, rttMs: 20 });
const { state: client, given } = applySamples(EMPTY_CLIENT, [SAMPLE], NOON_MS);
const { state: network, given: onward } = addToNetwork(EMPTY_LEVEL, given, 64_500);
const site = { mix: addGiven(NO_MIX, onward), bornAtMs: 0 };
const total = (weights: readonly number[] | undefined) => (weights ?? []).reduce((a, b) => a + b, 0);

describe("historyAt", () => {
  it("is unknown where nothing is remembered", () => {
    expect(historyAt({}, [], NOON_MS)).toEqual({ state: "unknown", connections: [] });
  });

  it("is late where the look-up did not arrive, and knows what this connection shows", () => {
    expect(historyAt(undefined, [SAMPLE], NOON_MS + 5)).toEqual({
      state: "late",
      connections: [{ transport: "tcp", ageMs: 5, packets: 1_000, lost: 10, rttMs: 20 }],
    });
  });

  it("counts a fresh sample once that was remembered already", () => {
    expect(historyAt({ client }, [SAMPLE], NOON_MS)).toEqual(historyAt({ client }, [], NOON_MS));
  });

  it("does not take a client for its own neighbour", () => {
    expect(total(historyAt({ client, network }, [], NOON_MS + HOUR_MS).network)).toBeCloseTo(0, 12);
    expect(total(historyAt({ network }, [], NOON_MS).network)).toBeGreaterThan(0.8);
  });

  it("shows the levels as much as is left of them", () => {
    const whole = total(historyAt({ network, site }, [], NOON_MS).site);
    expect(total(historyAt({ network, site }, [], NOON_MS + HALF_LIFE_MS).site)).toBeCloseTo(whole / 2, 9);
  });
});
