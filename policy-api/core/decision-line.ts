import type { Decision } from "./decide.ts";
import type { History, RequestFacts } from "./facts.ts";

/**
 * One decision as it stands in the log: its inputs, the policy's version, and what came of them. No address and no URL.
 * With `POST explain` it can be made again.
 */
export interface DecisionLine {
  readonly event: "decision";
  /** The beginning of the client's keyed hash. */
  readonly client: string;
  readonly httpProtocol: string;
  readonly policyVersion: number;
  readonly request: Omit<RequestFacts, "path">;
  readonly history: History;
  readonly decision: Decision;
}
