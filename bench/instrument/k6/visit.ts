import { check } from "k6";
import { visit } from "k6/x/adaptive-h3";
import { MODES } from "../../../policy-api/core/policy.ts";

// Visits a page as clients do that begin with HTTP/2 and follow Alt-Svc; with MODE, checks that they ended up where the
// policy's mode sends them:
//   dist/k6 run --vus 2 --duration 10s -e URL=https://localhost:8443/ -e MODE=fixed-h3 bench/instrument/k6/visit.ts

export const options = {
  thresholds: {
    checks: ["rate==1"],
    h3_failures: ["count==0"],
    "h3_load{protocol:h3}": ["p(95)<3000"],
    "h3_waiting{protocol:h2}": ["med<500"],
  },
};

const url = __ENV["URL"] ?? "https://localhost:8443/";
const mode = MODES.find((name) => name === __ENV["MODE"]);
if (mode === undefined && __ENV["MODE"] !== undefined) throw new Error(`MODE is one of ${MODES.join(", ")}`);

// oxlint-disable-next-line import/no-default-export -- what k6 runs with --vus and --duration
export default function visitPage(): void {
  // The first page is told of HTTP/3, the second one makes the client connect, the third one uses it.
  const result = visit(url, { firstProtocol: "h2", pages: 3, pauseMs: 500, caFile: __ENV["CA"] ?? "" });
  check(result, { "complete within the time": ({ outcome }) => outcome === "ok" });
  if (mode === "fixed-h3") check(result, { "switched to HTTP/3": ({ lastProtocol }) => lastProtocol === "h3" });
  if (mode === "fixed-h2") check(result, { "stayed on HTTP/2": ({ lastProtocol }) => lastProtocol === "h2" });
}
