import type { PathEstimate } from "./estimate.ts";
import type { Transport } from "./sample.ts";

/** What is known of a request and of the connection it came on. */
export interface RequestFacts {
  /** `quic` for HTTP/3, `tcp` for everything before it. */
  readonly transport: Transport;
  /** Of this connection, milliseconds. */
  readonly rttMs?: number | undefined;
  /** Of this connection, bytes per second. */
  readonly deliveryRateBps?: number | undefined;
  /** The URL's path. */
  readonly path: string;
  readonly asn?: number | undefined;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string | undefined;
  /** Until when this client may hold an offer of ours, milliseconds since the epoch. */
  readonly offerUntilMs?: number | undefined;
  /** Whether the last answer to this client was an offer. */
  readonly offering?: boolean | undefined;
}

/** What is remembered of a client: `unknown` was looked up and not found, `late` did not arrive in time. */
export interface History {
  readonly state: "known" | "unknown" | "late";
  readonly client?: PathEstimate | undefined;
  /** The client's /24 or /48: the prior for what is not known of the client itself. */
  readonly network?: PathEstimate | undefined;
}
