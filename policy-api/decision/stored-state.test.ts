import { describe, expect, it } from "vitest";
import { CONNECTIONS } from "./connections.ts";
import { applySamples, EMPTY_CLIENT, readClientState } from "./levels.ts";
import { addGiven, addToNetwork, EMPTY_LEVEL, readLevelState } from "./mix.ts";
import { IGNORED_MAX, NO_OFFER, readOfferState } from "./offers.ts";
import { parse, type Parsed } from "./parse.ts";
import { NOON_MS, sample } from "./testing.ts";

const { state: CLIENT, given: GIVEN } = applySamples(
  EMPTY_CLIENT,
  [sample({ packetsSent: 1_000, packetsLost: 10, rttMs: 20, bytesSent: 1e6, busyMs: 90, deliveryRateBps: 1e6 })],
  NOON_MS,
);
const [CONNECTION] = CLIENT.connections;
const { state: NETWORK, given: ONWARD } = addToNetwork(EMPTY_LEVEL, GIVEN, 64_500);
const faultsOf = (parsed: Parsed<unknown>) => (parsed.ok ? [] : parsed.faults.map(({ pointer }) => pointer));

describe("readClientState", () => {
  it("reads what was written", () => {
    expect(parse(readClientState, JSON.parse(JSON.stringify(CLIENT)))).toEqual({ ok: true, value: CLIENT });
  });

  it.each([
    ["no object", [], [""]],
    ["nothing", {}, ["/connections", "/given"]],
    [
      "another transport",
      { ...CLIENT, connections: [{ ...CONNECTION, transport: "sctp" }] },
      ["/connections/0/transport"],
    ],
    [
      "a negative count",
      { ...CLIENT, connections: [{ ...CONNECTION, packetsLost: -1 }] },
      ["/connections/0/packetsLost"],
    ],
    [
      "more connections than are kept",
      { ...CLIENT, connections: Array.from({ length: CONNECTIONS + 1 }, () => CONNECTION) },
      ["/connections"],
    ],
    ["a mix that is none", { ...CLIENT, given: { clients: [1], asOfMs: 0 } }, ["/given/clients"]],
  ])("%s", (_name, input, pointers) => {
    expect(faultsOf(parse(readClientState, input))).toEqual(pointers);
  });
});

describe("readLevelState", () => {
  it.each([
    ["of a network", NETWORK],
    ["of what is above", { mix: addGiven(EMPTY_LEVEL.mix, ONWARD), bornAtMs: 0 }],
  ])("reads what was written: %s", (_name, state) => {
    expect(parse(readLevelState, JSON.parse(JSON.stringify(state)))).toEqual({ ok: true, value: state });
  });

  it("names what is wrong", () => {
    expect(faultsOf(parse(readLevelState, { mix: { clients: "many", asOfMs: 0 }, bornAtMs: 0 }))).toEqual([
      "/mix/clients",
    ]);
  });
});

describe("readOfferState", () => {
  it.each([
    ["none", [], true],
    ["some", [1, 2], true],
    ["as many as are kept", Array.from({ length: IGNORED_MAX }, (_, i) => i), true],
    ["more", Array.from({ length: IGNORED_MAX + 1 }, (_, i) => i), false],
    ["no list", {}, false],
    ["no numbers", ["1"], false],
    ["null", null, false],
  ])("%s", (_name, input, ok) => {
    expect(parse(readOfferState, { ...NO_OFFER, ignoredAtMs: input }).ok).toBe(ok);
  });
});
