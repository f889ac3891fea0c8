import { describe, expect, it } from "vitest";
import { HALF_LIFE_MS } from "./fading.ts";
import { applySamples, type ClientState, EMPTY_CLIENT } from "./levels.ts";
import { NODES } from "./loss-nodes.ts";
import { addGiven, addToNetwork, EMPTY_LEVEL, type LevelState, mixAt, NO_MIX } from "./mix.ts";
import { NOON_MS, sample } from "./testing.ts";

const total = (weights: readonly number[]) => weights.reduce((a, b) => a + b, 0);
const client = (packetsSent: number, packetsLost: number, state: ClientState = EMPTY_CLIENT, atMs = NOON_MS) =>
  applySamples(state, [sample({ packetsSent, packetsLost, atMs })], atMs);

describe("what a client gives to its network", () => {
  it("is at most one client, and of few packets little", () => {
    const given = [10, 200, 1e6].map((packets) => total(client(packets, 0).given.after.clients));
    expect(given[0]).toBeLessThan(0.1);
    expect(given[1]).toBeCloseTo(0.5, 9);
    expect(given[2]).toBeLessThanOrEqual(1);
    expect(given[2]).toBeGreaterThan(0.99);
  });

  it("lies where its packets say", () => {
    const { clients } = client(1e5, 5e3).given.after;
    expect(clients[5]).toBeGreaterThan(0.99);
  });

  it("is nothing where nobody counts packets", () => {
    expect(total(applySamples(EMPTY_CLIENT, [sample({ rttMs: 20 })], NOON_MS).given.after.clients)).toBe(0);
  });

  it("a repeat gives nothing more", () => {
    const { state } = client(1_000, 0);
    const { given } = client(1_000, 0, state);
    expect(given.after).toBe(given.before);
  });
});

describe("a network", () => {
  const giving = (network: LevelState, packetsSent: number, packetsLost: number, state = EMPTY_CLIENT) => {
    const applied = client(packetsSent, packetsLost, state, NOON_MS + packetsSent);
    return { ...addToNetwork(network, applied.given, undefined), client: applied.state };
  };

  it("counts a client once, however often it reports", () => {
    let network: LevelState = EMPTY_LEVEL;
    let state = EMPTY_CLIENT;
    for (const packets of [1e3, 1e4, 1e5, 1e6]) {
      const next = giving(network, packets, packets / 20, state);
      network = next.state;
      state = next.client;
    }
    expect(total(network.mix.clients)).toBeLessThanOrEqual(1);
    expect(network.mix.clients[5]).toBeGreaterThan(0.98);
  });

  it("gives on as much as four clients, whatever it holds", () => {
    let network: LevelState = EMPTY_LEVEL;
    let above = NO_MIX;
    for (let i = 0; i < 100; i++) {
      const next = giving(network, 1e5 + i, 5e3);
      network = next.state;
      above = addGiven(above, next.given);
    }
    expect(total(network.mix.clients)).toBeGreaterThan(90);
    const given = total(network.given?.clients ?? []);
    expect(total(above.clients)).toBeCloseTo(given, 6);
    // It lags by less than half a client.
    expect(given).toBeGreaterThan(3.5);
    expect(given).toBeLessThanOrEqual(4);
  });

  it("gives on again what has changed by half a client, or once its system's number is known", () => {
    const given = (packetsSent: number, state = EMPTY_CLIENT) => client(packetsSent, 0, state, NOON_MS + packetsSent);
    const first = given(200);
    const one = addToNetwork(EMPTY_LEVEL, first.given, undefined);
    expect(total(one.given.after.clients)).toBeCloseTo(0.5, 9);
    const more = given(1_000, first.state);
    const two = addToNetwork(one.state, more.given, undefined);
    expect(two.given.after).toBe(two.given.before);
    expect(two.state.given).toBe(one.state.given);
    expect(total(two.state.mix.clients)).toBeGreaterThan(0.8);
    expect(total(addToNetwork(one.state, more.given, 64_500).given.after.clients)).toBeGreaterThan(0.8);
    const lossy = client(1e5, 5e3, more.state, NOON_MS + 2e5);
    const three = addToNetwork(two.state, lossy.given, undefined);
    expect(three.given.before).toBe(one.state.given);
    expect(three.given.after.clients[5]).toBeGreaterThan(0.98);
  });

  it("fades, and what it gave fades with it", () => {
    const { state, given } = giving(EMPTY_LEVEL, 1e5, 0);
    const later = NOON_MS + 1e5 + HALF_LIFE_MS;
    expect(total(mixAt(state.mix, later))).toBeCloseTo(total(state.mix.clients) / 2, 9);
    const above = addGiven(NO_MIX, given);
    expect(total(mixAt(above, later))).toBeCloseTo(total(above.clients) / 2, 9);
  });

  it("remembers its autonomous system", () => {
    const { state } = addToNetwork(EMPTY_LEVEL, client(1e3, 0).given, 64_500);
    expect(addToNetwork(state, client(1e3, 0).given, undefined).state.asn).toBe(64_500);
  });

  it("never holds less than nothing", () => {
    const { given } = client(1e5, 5e3);
    const taken = addGiven(NO_MIX, { before: given.after, after: NO_MIX });
    expect(taken.clients).toEqual(Array.from({ length: NODES }, () => 0));
  });
});
