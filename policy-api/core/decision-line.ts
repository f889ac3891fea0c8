import type { Decision } from "./decide.ts";

/** One decision as it stands in the log: all that explains it, and no address. */
export interface DecisionLine {
  readonly event: "decision";
  /** The beginning of the client's keyed hash. */
  readonly client: string;
  readonly httpProtocol: string;
  /** Of the connection that the request came on, milliseconds. */
  readonly rttMs?: number;
  /** Of the connection that the request came on, bytes per second. */
  readonly deliveryRateBps?: number;
  readonly policyVersion: number;
  readonly decision: Decision;
}
