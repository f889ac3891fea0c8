import { describe, expect, it } from "vitest";
import { addSample, CONNECTIONS } from "./connections.ts";
import { readClientState } from "./history.ts";
import { IGNORED_MAX, NO_OFFER, readOfferState } from "./offers.ts";
import { parse, type Parsed } from "./parse.ts";
import { sample } from "./testing.ts";

const CLIENT = {
  connections: addSample(
    [],
    sample({ packetsSent: 1_000, packetsLost: 10, rttMs: 20, bytesSent: 1e6, busyMs: 90, deliveryRateBps: 1e6 }),
  ),
};
const [CONNECTION] = CLIENT.connections;
const faultsOf = (parsed: Parsed<unknown>) => (parsed.ok ? [] : parsed.faults.map(({ pointer }) => pointer));

describe("readClientState", () => {
  it("reads what was written", () => {
    expect(parse(readClientState, JSON.parse(JSON.stringify(CLIENT)))).toEqual({ ok: true, value: CLIENT });
  });

  it.each([
    ["no object", [], [""]],
    ["nothing", {}, ["/connections"]],
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
  ])("%s", (_name, input, pointers) => {
    expect(faultsOf(parse(readClientState, input))).toEqual(pointers);
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
