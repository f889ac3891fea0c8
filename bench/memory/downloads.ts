import { check } from "k6";
import { visit } from "k6/x/adaptive-h3";

// So many clients at once, each with a connection of its own, and one download each.

export const options = { thresholds: { checks: ["rate==1"] } };

const url = __ENV["URL"] ?? "";
const firstProtocol = __ENV["PROTOCOL"] === "h3" ? "h3" : "h2";

// oxlint-disable-next-line import/no-default-export -- what k6 runs with --vus and --iterations
export default function download(): void {
  const result = visit(url, { firstProtocol, caFile: __ENV["CA"] ?? "", timeoutMs: 300_000 });
  check(result, {
    "complete, over the protocol asked for": (one) => one.outcome === "ok" && one.lastProtocol === firstProtocol,
  });
}

/** Without it the stock summary would stand on stdout. */
export function handleSummary(): Record<string, string> {
  return {};
}
