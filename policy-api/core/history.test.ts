import { describe, expect, it } from "vitest";
import { applySamples } from "./estimator.ts";
import { historyAt } from "./history.ts";
import { NOON_MS, sample } from "./testing.ts";

const stored = applySamples({}, [sample({ packetsSent: 1000, packetsLost: 10 })]);
const own = sample({ connectionId: "own", atMs: NOON_MS + 1, rttMs: 5, packetsSent: 3, packetsLost: 0 });

describe("historyAt", () => {
  it("late: only what this connection says, once it has something to say", () => {
    const transfer = { ...own, packetsSent: 500 };
    expect(historyAt(undefined, [transfer], NOON_MS + 1)).toMatchObject({
      state: "late",
      client: { tcp: { packets: 500 } },
    });
    expect(historyAt(undefined, [own], NOON_MS + 1)).toEqual({ state: "late" });
    expect(historyAt(undefined, [], NOON_MS)).toEqual({ state: "late" });
  });

  it("having been offered something makes no client known", () => {
    expect(historyAt({ client: {} }, [own], NOON_MS + 1)).toEqual({ state: "unknown" });
  });

  it("a few packets remembered make no client known, and a whole transfer does", () => {
    const few = applySamples({}, [sample({ rttMs: 7, packetsSent: 12, packetsLost: 0 })]);
    expect(historyAt({ client: few, network: few }, [], NOON_MS)).toEqual({ state: "unknown" });
    expect(historyAt({ client: stored }, [], NOON_MS).state).toBe("known");
  });

  it("where nobody counts packets a remembered RTT is what is known", () => {
    const uncounted = applySamples({}, [sample({ connectionId: "-", rttMs: 40 })]);
    const again = sample({ connectionId: "-", atMs: NOON_MS + 1, rttMs: 30 });
    expect(historyAt({ client: uncounted }, [again], NOON_MS + 1)).toMatchObject({
      state: "known",
      client: { tcp: { minRttMs: 30 } },
    });
  });

  it("a handshake does not make a client known; a transfer does", () => {
    expect(historyAt({}, [own], NOON_MS + 1)).toEqual({ state: "unknown" });
    const transfer = { ...own, packetsSent: 500 };
    expect(historyAt({}, [transfer], NOON_MS + 1)).toMatchObject({ state: "known", client: { tcp: { packets: 500 } } });
  });

  it("a handshake beside a known network leaves the network to speak", () => {
    const history = historyAt({ network: stored }, [own], NOON_MS + 1);
    expect(history).toMatchObject({ state: "known", network: { tcp: {} } });
    expect(history.client).toBeUndefined();
  });

  it("the autonomous system speaks where neither client nor network is known, and is prior to nothing", () => {
    const few = applySamples({}, [sample({ packetsSent: 12, packetsLost: 0 })]);
    const history = historyAt({ client: few, network: few, asn: stored }, [own], NOON_MS + 1);
    expect(history).toMatchObject({ state: "known", asn: { tcp: {} } });
    expect([history.client, history.network]).toEqual([undefined, undefined]);
    expect(historyAt({ asn: few }, [own], NOON_MS + 1)).toEqual({ state: "unknown" });
    expect(Object.keys(historyAt({ client: stored, network: stored, asn: stored }, [], NOON_MS))).toEqual([
      "state",
      "client",
      "network",
      "asn",
    ]);
  });

  it("a path that changes on what is on its way is the path that it is now", () => {
    const lossy = sample({ connectionId: "c2", atMs: NOON_MS + 60_000, packetsSent: 700, packetsLost: 70 });
    const { client } = historyAt({ client: stored }, [lossy], NOON_MS + 60_000);
    expect(client?.tcp?.lossRatio).toBeCloseTo(0.1, 9);
    expect(client?.tcp?.changedMsAgo).toBe(0);
  });

  it("adds what is on its way, and only once what has arrived", () => {
    const onItsWay = sample({ atMs: NOON_MS + 1, packetsSent: 2000, packetsLost: 20 });
    const packets = (s: typeof stored) => historyAt({ client: s }, [onItsWay], NOON_MS + 1).client?.tcp?.packets;
    expect(packets(stored)).toBeCloseTo(2000, 0);
    expect(packets(applySamples(stored, [onItsWay]))).toBeCloseTo(2000, 0);
  });

  it("what has faded is unknown again", () => {
    expect(historyAt({ client: stored }, [], NOON_MS + 1e9)).toEqual({ state: "unknown" });
  });
});
