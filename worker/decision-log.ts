import type { DecisionLine } from "../policy-api/decision/decide.ts";
import type { Advice } from "./advise.ts";
import type { StoredClient } from "./stores.ts";
import type { Visit } from "./visit.ts";

/** Writes one line of JSON to the log. */
export function logDecision(
  { connection }: Visit,
  { request, history, decision, policyVersion }: Advice,
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
