import type { DecisionLine } from "../policy-api/decision/decision-line.ts";
import type { Advice } from "./advise.ts";
import type { Found } from "./look-up.ts";
import type { StoredClient } from "./stores.ts";

/** Writes one line of JSON to the log. */
export function logDecision(
  { request, history, decision, policyVersion }: Advice,
  { connection }: Found,
  client: StoredClient | undefined,
): void {
  const { path: _, ...facts } = request;
  const line: DecisionLine = {
    event: "decision",
    client: client?.keys.client.slice(0, 6) ?? "-",
    httpProtocol: connection.httpProtocol,
    policyVersion,
    request: facts,
    history,
    decision,
  };
  console.log(JSON.stringify(line));
}
