import type { Mode } from "./policy.ts";
import type { Transport } from "./sample.ts";

/** What is known about a request and its connection. */
export interface RequestFacts {
  /** `quic` for HTTP/3, `tcp` for HTTP/1.1 and HTTP/2. */
  readonly transport: Transport;
  /** Of this connection, milliseconds. */
  readonly rttMs?: number | undefined;
  /** Its smallest RTT, milliseconds: what tells its path from others behind the address. Undefined: `rttMs` does. */
  readonly minRttMs?: number | undefined;
  /** Of this connection, bytes per second. */
  readonly deliveryRateBps?: number | undefined;
  /** The URL's path. */
  readonly path: string;
  readonly asn?: number | undefined;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string | undefined;
  /** Until when this client may hold an offer of ours, milliseconds since the epoch. */
  readonly offerUntilMs?: number | undefined;
  /** Until when any client may hold an offer made under an earlier activation, milliseconds since the epoch. */
  readonly earlierOffersUntilMs?: number | undefined;
  /** Whether the last answer to this client was an offer. */
  readonly offering?: boolean | undefined;
  /** When this client was last answered with an offer or a `clear`, milliseconds since the epoch. */
  readonly answeredAtMs?: number | undefined;
  /** Until when offers pause because this client ignored them, milliseconds since the epoch. */
  readonly pausedUntilMs?: number | undefined;
  /** 0 to 1, uniform over clients and constant for a client: for policies that offer to a share of clients. */
  readonly shareUnit?: number | undefined;
  /** Modes that other policies in force have for other paths of this origin. */
  readonly modesElsewhere?: readonly Mode[] | undefined;
}

/** What one connection of a client has shown. */
export interface ConnectionSeen {
  readonly transport: Transport;
  /** Since its newest sample, milliseconds. */
  readonly ageMs: number;
  /** Packets sent, retransmissions included. 0 where nobody counts them. */
  readonly packets: number;
  /** Packets declared lost. */
  readonly lost: number;
  /** Its smallest RTT, milliseconds. */
  readonly rttMs?: number | undefined;
  /** Bytes sent, and for how long responses were under way, milliseconds. */
  readonly bytes?: number | undefined;
  readonly busyMs?: number | undefined;
  /** Its largest delivery rate, bytes per second. */
  readonly deliveryRateBps?: number | undefined;
}

/**
 * What a decision knows of the past: the client's own connections. `unknown`: the look-up found nothing. `late`: it did not arrive in time.
 */
export interface History {
  readonly state: "known" | "unknown" | "late";
  readonly connections?: readonly ConnectionSeen[] | undefined;
}
