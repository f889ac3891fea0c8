// A small population that tests of several rooms share.
import type { PopulationDescription } from "../../model/population.ts";
import type { Playing } from "./play.ts";
import type { MeasuredClient, MeasuredLoad } from "./truth.ts";

export const STACK = { tcp: "cubic", quic: "quic-go" } as const;
export const DESCRIPTION: PopulationDescription = {
  mixes: {},
  page: {
    bytes: { lognormal: { median: 1e6, sigma: 0.5 }, bounds: [5e5, 2e6] },
    files: { lognormal: { median: 20, sigma: 0.5 }, bounds: [1, 60] },
  },
  visit: {
    pages: { "1": 0.25, "3": 0.75 },
    pauseS: { lognormal: { median: 20, sigma: 0.5 }, bounds: [1, 100] },
    returns: [{ afterS: 600, share: 0.5 }],
    newPathOnReturn: 0,
  },
  udp: { blocked: 0, policed: 0, policedLossRatio: [0.02, 0.2] },
  behindSharedAddress: { share: 0, devices: [2, 3] },
};

const load = (firstMs: number, laterMs: number, over: Partial<MeasuredLoad> = {}): MeasuredLoad => ({
  firstMs,
  openedMs: firstMs - 100,
  laterMs,
  packets: 2_000,
  lost: 0,
  rttMs: 50,
  deliveryRateBps: 1e6,
  ...over,
});
/** A client whose pages take 1 s over HTTP/2, and as long over HTTP/3 as the factor says; half a percent either way. */
export function client(name: string, factor: number, lossRatio = 0): MeasuredClient {
  const eight = (ms: number) =>
    Array.from({ length: 8 }, (_, i) =>
      load(ms * (1 + i / 800) + 100, ms * (1 + i / 800), { lost: 2_000 * lossRatio }),
    );
  return {
    name,
    mix: "near",
    rttMs: 50,
    lossRatio,
    rateMbps: 50,
    bytes: 1e6,
    files: 1,
    loads: { cubic: eight(1_000), bbr: eight(500), "quic-go": eight(1_000 * factor) },
  };
}
export const CLIENTS = [client("clean", 1.1), client("lossy", 0.5, 0.05), client("clean too", 1.1)];
export const playing = (over: Partial<Playing> = {}): Playing => ({
  clients: CLIENTS,
  stack: STACK,
  times: CLIENTS.map(({ loads }) => ({
    h2: { firstMs: loads.cubic?.[0]?.firstMs ?? 0, openedMs: 1_000, laterMs: 1_000 },
    h3: {
      firstMs: loads["quic-go"]?.[0]?.firstMs ?? 0,
      openedMs: (loads["quic-go"]?.[0]?.laterMs ?? 0) + 7,
      laterMs: loads["quic-go"]?.[0]?.laterMs ?? 0,
    },
  })),
  price: () => 0.25,
  countsPackets: true,
  rehearses: false,
  ...over,
});
