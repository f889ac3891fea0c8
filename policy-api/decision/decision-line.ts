import type { Decision } from "./decide.ts";
import type { History, RequestFacts } from "./facts.ts";

/**
 * One decision in the log: its inputs, the policy's version, and the result. No address and no URL. `POST explain` can
 * make it again.
 */
export interface DecisionLine {
  readonly event: "decision";
  /** The first characters of the client's keyed hash. */
  readonly client: string;
  readonly httpProtocol: string;
  readonly policyVersion: number;
  readonly request: Omit<RequestFacts, "path">;
  readonly history: History;
  readonly decision: Decision;
}
