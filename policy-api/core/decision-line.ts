import type { Decision } from "./decide.ts";

/** One decision as it stands in the log: all that explains it, and no address. */
export interface DecisionLine {
  readonly event: "decision";
  /** The beginning of the client's keyed hash. */
  readonly client: string;
  readonly httpProtocol: string;
  readonly policyVersion: number;
  readonly decision: Decision;
}
