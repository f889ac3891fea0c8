import type { Decision } from "../policy-api/core/decide.ts";
import type { DecisionLine } from "../policy-api/core/decision-line.ts";
import type { LookUp } from "./look-up.ts";

/** Writes one line of JSON to the log. */
export function logDecision(decision: Decision, lookUp: LookUp): void {
  const { httpProtocol, rttMs, deliveryRateBps } = lookUp.connection;
  const line: DecisionLine = {
    event: "decision",
    client: lookUp.keys?.client.slice(0, 6) ?? "-",
    httpProtocol,
    ...(rttMs === undefined ? {} : { rttMs }),
    ...(deliveryRateBps === undefined ? {} : { deliveryRateBps }),
    policyVersion: lookUp.policy?.inForce?.version ?? 0,
    decision,
  };
  console.log(JSON.stringify(line));
}
