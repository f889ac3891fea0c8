import { check } from "k6";
import { Counter, Trend } from "k6/metrics";
import { run } from "k6/x/adaptive-h3";
import { MODES } from "../../../policy-api/decision/policy.ts";
import type { Load, LoadResult } from "../../model/plan.ts";

// Visits a page as clients do that begin with HTTP/2 and follow Alt-Svc; with MODE, checks that they ended up where the
// policy's mode sends them:
//   dist/k6 run --vus 2 --duration 10s -e URL=https://localhost:8443/ -e CA=ca.pem -e MODE=fixed-h3 bench/instrument/k6/visit.ts

export const options = {
  thresholds: {
    checks: ["rate==1"],
    h3_failures: ["count==0"],
    "h3_load{protocol:h3}": ["p(95)<3000"],
    "h3_handshake{protocol:h2}": ["med<500"],
  },
};

const url = __ENV["URL"] ?? "https://localhost:8443/";
const [, host, port = "443", document = "/"] = /^https:\/\/([^/:]+)(?::(\d+))?(\/.*)?$/.exec(url) ?? [];
if (host === undefined) throw new Error("URL is an https URL: only those have alternatives over HTTP/3");
const mode = MODES.find((name) => name === __ENV["MODE"]);
if (mode === undefined && __ENV["MODE"] !== undefined) throw new Error(`MODE is one of ${MODES.join(", ")}`);

/** One of each connection, by its protocol. */
const handshake = new Trend("h3_handshake", true);
/** One of each visit, by the protocol that it ended with. */
const trends = {
  switchHandshakeMs: new Trend("h3_switch_handshake", true),
  ttfbMs: new Trend("h3_ttfb", true),
  loadMs: new Trend("h3_load", true),
};
const bytes = new Counter("h3_bytes");
const failures = new Counter("h3_failures");
const switches = new Counter("h3_switches");

// oxlint-disable-next-line import/no-default-export -- what k6 runs with --vus and --duration
export default function visitPage(): void {
  // The first page is told of HTTP/3, the second one makes the client connect, the third one uses it.
  const page = { document, subresources: [], pauseAfterMs: 500 };
  const load: Load = {
    id: url,
    clientAddress: "",
    origin: { host: host ?? "", port: Number(port), address: __ENV["ADDRESS"] ?? "", caFile: __ENV["CA"] ?? "" },
    edgePids: [],
    timeoutMs: 60_000,
    switch: "background",
    sessions: [{ timed: true, firstProtocol: "h2", pages: [page, page, page], pauseAfterMs: 0 }],
  };
  const result = JSON.parse(run(JSON.stringify(load))) as LoadResult;
  const tags = { protocol: result.lastProtocol };
  for (const { protocol, handshakeMs } of result.connections) handshake.add(handshakeMs, { protocol });
  for (const name of ["switchHandshakeMs", "ttfbMs", "loadMs"] as const) {
    const ms = result[name];
    if (ms !== null) trends[name].add(ms, tags);
  }
  bytes.add(result.bytes, tags);
  failures.add(result.outcome === "ok" ? 0 : 1, tags);
  switches.add(result.switched ? 1 : 0, tags);
  check(result, { "complete within the time": ({ outcome }) => outcome === "ok" });
  if (mode === "fixed-h3") check(result, { "switched to HTTP/3": ({ lastProtocol }) => lastProtocol === "h3" });
  if (mode === "fixed-h2") check(result, { "stayed on HTTP/2": ({ lastProtocol }) => lastProtocol === "h2" });
}
