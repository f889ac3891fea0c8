import type { CrossRow } from "./row.ts";

/** A row for tests: a load that counts. */
export function exampleRow(given: Partial<CrossRow>): CrossRow {
  return {
    id: "near-h2-ours-0",
    setting: "near",
    protocol: "h2",
    client: "ours",
    round: 0,
    startedMs: 0,
    outcome: "ok",
    error: "",
    dropped: "",
    loadMs: 500,
    handshakeMs: 40,
    ttfbMs: 60,
    bytes: 1_000_000,
    clientCpuMs: 20,
    busyRatio: 0.2,
    lateRatio: 0,
    droppedLoss: 0,
    droppedQueue: 0,
    packetsUp: 400,
    packetsDown: 720,
    ...given,
  };
}
