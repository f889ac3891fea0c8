import { check, sleep } from "k6";
import { load } from "./load.ts";

// So many clients at once, each with a connection of its own, and one download each. What fails is told on stderr, and ends
// in an exit code other than 0.

const clients = Number(__ENV["CLIENTS"]);
const protocol = __ENV["PROTOCOL"] === "h3" ? "h3" : "h2";

export const options = {
  thresholds: { checks: ["rate==1"] },
  scenarios: {
    crowd: { executor: "per-vu-iterations", exec: "download", vus: clients, iterations: 1, maxDuration: "10m" },
  },
};

/** One after another: quic-go refuses what comes while 32 connections wait to be accepted. */
const APART_S = 0.01;

export function download(): void {
  sleep((__VU - 1) * APART_S);
  const result = load({
    id: protocol,
    clientAddress: "",
    origin: {
      host: "localhost",
      address: __ENV["ADDRESS"] ?? "",
      port: Number(__ENV["PORT"]),
      caFile: __ENV["CA"] ?? "",
    },
    edgePids: [],
    timeoutMs: 300_000,
    switch: "wait",
    // A crowd's first flights fill the queue: a handshake that loses packets there is no reason to give up QUIC.
    quicTimeoutMs: 60_000,
    sessions: [
      {
        timed: true,
        firstProtocol: protocol,
        pages: [{ document: `/image/${__ENV["BYTES"]}`, subresources: [] }],
        pauseAfterMs: 0,
      },
    ],
  });
  const isWhole = result.outcome === "ok" && result.lastProtocol === protocol;
  if (!isWhole)
    console.error(
      `a download over ${protocol} ended over ${result.lastProtocol || "nothing"}: ${result.outcome} ${result.error}`,
    );
  check(isWhole, { "complete, over the protocol asked for": (one) => one });
}

/** Without it the stock summary would stand on stdout. */
export function handleSummary(): Record<string, string> {
  return {};
}
