import type { TimesTable } from "./times.ts";

/**
 * `observe`: measure and touch no header. `fixed-h2`: never offer, take offers back. `fixed-h3`: always offer.
 * `adaptive`: offer where the predicted times say so.
 */
export type Mode = "observe" | "fixed-h2" | "fixed-h3" | "adaptive";

export const MODES = ["observe", "fixed-h2", "fixed-h3", "adaptive"] as const satisfies readonly Mode[];

/** What to do for a client of which nothing is known. */
export interface ColdStart {
  /** Offer HTTP/3 or say nothing. The published method begins on HTTP/3. */
  readonly advertise: "h3" | "nothing";
  /** The prior where a look-up was too late or evidence is thin: lost over sent, 0 to 1. */
  readonly lossRatio: number;
  /** The prior, bytes per second. */
  readonly deliveryRateBps: number;
}

/** Another mode for some requests. All conditions given must hold; the first rule that matches counts. */
export interface Rule {
  readonly pathPrefix?: string;
  readonly asn?: readonly number[];
  /** ISO 3166-1 alpha-2. */
  readonly country?: readonly string[];
  readonly mode: Mode;
}

export interface Policy {
  readonly schema: 1;
  readonly mode: Mode;
  /** At least one where anything is adaptive. */
  readonly times: readonly TimesTable[];
  readonly coldStart: ColdStart;
  /** Bounds of an offer's life (RFC 7838 section 3.1), seconds. */
  readonly ma: { readonly minS: number; readonly maxS: number };
  /**
   * Hysteresis over the predicted saving, stay / switch - 1: an offer begins above `enter` and ends at or below
   * `leave`.
   */
  readonly margin: { readonly enter: number; readonly leave: number };
  /** Share of clients, 0 to 1, whose choice is drawn instead of predicted, so that predictions can be checked. */
  readonly exploration: { readonly share: number };
  readonly rules: readonly Rule[];
}

/**
 * A policy as the store keeps it and the worker obeys it. Version 0 is a store in which nobody has put a policy.
 */
export interface PolicyInForce {
  readonly version: number;
  readonly policy: Policy;
  /**
   * Until when a client may hold an offer made under an earlier version, milliseconds since the epoch (RFC 7838: an
   * offer lives until its `ma` ends, whatever later responses leave out).
   */
  readonly earlierOffersUntilMs: number;
}

/** How long a worker isolate obeys the policy it has before it asks for a newer one, milliseconds. */
export const POLICY_CACHE_MS = 30_000;
/** From this age on a policy is not served before a renewal has been waited for (within the budget), milliseconds. */
export const POLICY_OUTDATED_MS = 2 * POLICY_CACHE_MS;

/** A stack that nobody has measured is observed, and nothing else. */
export const INITIAL_POLICY: Policy = {
  schema: 1,
  mode: "observe",
  times: [],
  coldStart: { advertise: "h3", lossRatio: 0, deliveryRateBps: 25_000_000 },
  ma: { minS: 60, maxS: 300 },
  margin: { enter: 0.05, leave: 0 },
  exploration: { share: 0 },
  rules: [],
};
