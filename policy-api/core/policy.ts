import type { TimesLattice } from "./times.ts";

/**
 * `observe`: measure, and touch no header. `fixed-h2`: never offer, and take offers back. `fixed-h3`: always offer.
 * `adaptive`: offer if the policy's method says so.
 */
export type Mode = "observe" | "fixed-h2" | "fixed-h3" | "adaptive";

export const MODES = ["observe", "fixed-h2", "fixed-h3", "adaptive"] as const satisfies readonly Mode[];

/** Times that were measured on one stack: this project's own method. */
export interface TimesMethod {
  readonly kind: "times";
  /** Over what TCP connections measure. If one of the two lattices is left out, the other is used for both. */
  readonly tcp?: TimesLattice | undefined;
  /** Over what QUIC connections measure. */
  readonly quic?: TimesLattice | undefined;
  /**
   * What a switch costs, in round trips on top of a cold session, instead of the measured switch. 2 means "HTTP/3 only
   * if it wins by two round trips".
   */
  readonly switchRoundTrips?: number | undefined;
}

/** Where both protocols take equally long, at one rate. HTTP/3 is offered beyond it. */
export interface ZeroLine {
  readonly deliveryRateBps: number;
  /** Increasing. */
  readonly rttMs: readonly number[];
  /** For each RTT, the loss above which HTTP/3 is faster. Above 1 if it never is. Linear in between. */
  readonly lossRatio: readonly number[];
}

/** The published method (Ohashi, Kitaguchi, Yamaoka 2020): one line for each rate that was measured. */
export interface ZeroLinesMethod {
  readonly kind: "zero-lines";
  readonly lines: readonly ZeroLine[];
}

/** HTTP/3 if the RTT is at least this. */
export interface RttThresholdMethod {
  readonly kind: "rtt-threshold";
  readonly rttMs: number;
}

/** HTTP/3 for a share of clients, whatever their paths. */
export interface ShareMethod {
  readonly kind: "share";
  /** 0 to 1. */
  readonly share: number;
}

/** How an adaptive policy finds out for which clients HTTP/3 is faster. */
export type Method = TimesMethod | ZeroLinesMethod | RttThresholdMethod | ShareMethod;

/** What sessions transfer, bytes: that of the first route whose prefix begins the document's path, else the default. */
export interface ContentBytes {
  readonly default: number;
  readonly routes: readonly { readonly pathPrefix: string; readonly bytes: number }[];
}

/** What to do for a client of which only this connection's RTT is known. */
export interface ColdStart {
  /** The answer without `times`, or without an RTT. The published method begins on HTTP/3. */
  readonly advertise: "h3" | "nothing";
  /** The mix of networks that `times` is the mean of, in words. */
  readonly mix?: string | undefined;
  /** Over RTT and bytes; other axes have one value. */
  readonly times?: TimesLattice | undefined;
}

/** Hysteresis and caution over the predicted saving, stay / switch - 1. */
export interface Margin {
  /** An offer begins if the saving, less its uncertainty, is above this. */
  readonly enter: number;
  /** An offer ends if the expected saving is at or below this. */
  readonly leave: number;
  /** The uncertainty's half-width, in standard errors. */
  readonly standardErrors: number;
}

/** Where a policy's times come from, so that they can be made again. */
export interface Provenance {
  /** Server software with versions. */
  readonly stack: string;
  /** That of the server's TCP. */
  readonly congestionControl: string;
  /** The command that made the policy. */
  readonly command: string;
  /** SHA-256 of the measurements that it was made from, hexadecimal. */
  readonly rowsSha256: string;
  /** How many loads count. */
  readonly loads: number;
  readonly cells: number;
}

/** Another mode for some requests. All its conditions must hold, and the first rule that matches counts. */
export interface Rule {
  readonly pathPrefix?: string;
  readonly asn?: readonly number[];
  /** ISO 3166-1 alpha-2. */
  readonly country?: readonly string[];
  readonly mode: Mode;
}

export interface Policy {
  readonly schema: 2;
  readonly mode: Mode;
  /** What it was made from, and by whom, in words. */
  readonly source?: string | undefined;
  readonly provenance?: Provenance | undefined;
  /** Needed if any mode is adaptive. */
  readonly method?: Method | undefined;
  readonly contentBytes: ContentBytes;
  readonly coldStart: ColdStart;
  /** Bounds of an offer's life (RFC 7838 section 3.1), seconds. */
  readonly ma: { readonly minS: number; readonly maxS: number };
  readonly margin: Margin;
  /** The share of clients, 0 to 1, that draw their answer, so that predictions can be checked. */
  readonly exploration: { readonly share: number };
  readonly rules: readonly Rule[];
}

/** A day, which is what CDNs advertise. A longer offer would outlive too many decisions. */
export const MA_MAX_S = 86_400;

/** How long a worker isolate uses a policy before it asks for a newer one, milliseconds. */
export const POLICY_CACHE_MS = 15_000;
/**
 * From this age on, a request waits for a renewal (within the budget) before it uses a policy, milliseconds. So every
 * isolate obeys a change after this long, while the store answers.
 */
export const POLICY_OUTDATED_MS = 30_000;

/** A stack that nobody has measured is only observed. */
export const INITIAL_POLICY: Policy = {
  schema: 2,
  mode: "observe",
  contentBytes: { default: 1_000_000, routes: [] },
  coldStart: { advertise: "nothing" },
  ma: { minS: 60, maxS: 300 },
  margin: { enter: 0.05, leave: 0, standardErrors: 1 },
  exploration: { share: 0 },
  rules: [],
};
