import { describe, expect, it } from "vitest";
import { addSample } from "./connections.ts";
import { historyAt } from "./history.ts";
import { NOON_MS, sample } from "./testing.ts";

const SAMPLE = sample({ packetsSent: 1_000, packetsLost: 10, rttMs: 20 });
const client = { connections: addSample([], SAMPLE) };

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
});
